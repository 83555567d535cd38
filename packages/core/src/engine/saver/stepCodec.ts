import type { ResultCodec } from '../../state/steps/stepRecords.ts';
import { StrictSerde } from './StrictSerde.ts';

const stepSerde = new StrictSerde({ numbers: 'every' });

/** Results of steps that are more than JSON, such as the messages of a model: they come back as what they were. */
export const STEP_CODEC: ResultCodec = {
  encode: (value) => stepSerde.dumpText(value),
  decode: (text) => stepSerde.loadsTyped('tagged', text),
};
