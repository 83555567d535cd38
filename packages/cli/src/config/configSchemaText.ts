import { z } from 'zod';
import { projectConfigSchema } from './ProjectConfig.ts';

/** JSON Schema of `.devs/config.json`, for editors; published with the package as `config.schema.json`. */
export function configSchemaText(): string {
  return `${JSON.stringify(z.toJSONSchema(projectConfigSchema, { io: 'input' }), null, 2)}\n`;
}
