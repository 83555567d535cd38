import type { DesignRequest, DocumentsResult, PipelinePorts } from '../ports.ts';
import { StageView } from '../task/StageView.ts';
import { agentCall } from '../task/scrubbedStep.ts';
import { advance } from '../taskStates.ts';
import type { GraphState } from '../types.ts';
import { draftsOf, withDocuments } from './documents.ts';
import { changesSince, isProposedAt, proposalRequest, proposedOn } from './proposals.ts';
import { unknownFilesIn } from './unknownFiles.ts';

/** `design` without agents: advances the project and announces the gate. */
export function designNode(state: GraphState): Partial<GraphState> {
  return { ...advance(state, 'specifying'), pendingApprovalGate: 'design_approval' };
}

/**
 * `design`: reads brief, reports, repository and a human's feedback, writes the documents of the first gate. Documents that
 * name files which are not there are sent back once; what the second answer still names is shown at the gate.
 */
export function makeDesignNode(ports: PipelinePorts) {
  return async (state: GraphState): Promise<Partial<GraphState>> => {
    if (isProposedAt(state, 'design_approval')) return designNode(state);
    const view = await StageView.open(state, ports);
    const changes = await changesSince(state, 'design_approval', view);
    const request = {
      ...proposalRequest(state, 'design_approval'),
      ...view.seen,
      ...(changes.length > 0 && { changes }),
    };
    const { documents, unknownFiles } = await new Design(state, ports, view).ask(request);
    const { unknownFiles: _before, ...projectConfig } = proposedOn(state, 'design_approval', view);
    return {
      ...designNode({
        ...state,
        projectConfig: { ...projectConfig, ...(unknownFiles.length > 0 && { unknownFiles }) },
      }),
      documents,
    };
  };
}

interface Designed {
  readonly documents: GraphState['documents'];
  readonly unknownFiles: readonly string[];
}

class Design {
  readonly #state: GraphState;
  readonly #ports: Pick<PipelinePorts, 'agents' | 'now'>;
  readonly #view: StageView;

  constructor(state: GraphState, ports: Pick<PipelinePorts, 'agents' | 'now'>, view: StageView) {
    this.#state = state;
    this.#ports = ports;
    this.#view = view;
  }

  async ask(request: DesignRequest): Promise<Designed> {
    const first = await this.#propose('design', request);
    if (first.unknownFiles.length === 0 || first.isTold) return first;
    return this.#propose('designAgain', {
      ...request,
      documents: rejectedDrafts(first.documents, first.written),
      feedback: [request.feedback, unknownFilesFeedback(first.unknownFiles)]
        .filter((text) => text !== null)
        .join('\n\n'),
      unknownFiles: first.unknownFiles,
    });
  }

  async #propose(name: string, request: DesignRequest) {
    const { agents, now } = this.#ports;
    const answer = await this.#view.ask(name, (call) => agents.design(request, agentCall(call)));
    const unknownFiles = await this.#view.lookUp(`${name}: files`, (files) =>
      unknownFilesIn(answer.documents, files),
    );
    const at = new Date(now()).toISOString();
    return {
      documents: withDocuments(this.#state, answer.documents, at, 'design'),
      written: answer.documents,
      unknownFiles,
      isTold: unknownFiles.every((path) => answer.toldOf?.includes(path)),
    };
  }
}

function rejectedDrafts(
  documents: GraphState['documents'],
  written: DocumentsResult['documents'],
): DesignRequest['documents'] {
  const types = new Set(written.map(({ type }) => type));
  return draftsOf({ documents }).map((draft) =>
    types.has(draft.type) ? { ...draft, rejected: true } : draft,
  );
}

const unknownFilesFeedback = (paths: readonly string[]): string =>
  [
    'The design names files that the repository does not have:',
    ...paths.map((path) => `- ${path}`),
    'Look at the files that are there and name those, or say that a file is new.',
  ].join('\n');
