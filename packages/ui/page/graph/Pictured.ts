export interface PicturedNode {
  readonly id: string;
  /** Short, such as `T4`. */
  readonly label: string;
  readonly name: string;
  /** What is told of it in a word, such as `completed`. */
  readonly state: string;
  /** What becomes of it by what is about to be decided. */
  readonly fate?: 'goes' | 'stays' | 'target';
}

export interface PicturedEdge {
  readonly from: string;
  readonly to: string;
  /** Of a way that was gone more than once. */
  readonly times?: number;
}

export interface Pictured {
  /** What the picture is of. */
  readonly title: string;
  readonly nodes: readonly PicturedNode[];
  readonly edges: readonly PicturedEdge[];
  /** The node that is looked at. */
  readonly selected?: string | null;
  readonly onSelect?: (id: string) => void;
}
