/** One version of a workflow that administration stored under a name. */
export interface WorkflowRow extends NewWorkflow {
  /** 1, 2, 3… under one name; a number is never used twice. */
  readonly version: number;
  /** Null until the name is removed. */
  readonly removedAt: number | null;
}

export interface NewWorkflow {
  readonly name: string;
  readonly description: string;
  /** The workflow as JSON lines. */
  readonly text: string;
  readonly planHash: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export interface WorkflowStore {
  /**
   * Adds the next version, unless the newest has the same text and description. Returns the version that runs from now
   * on.
   */
  put(workflow: NewWorkflow): Promise<WorkflowRow>;
  /** The newest version of every name that was not removed, by name. */
  list(): Promise<WorkflowRow[]>;
  /** Every version of a name, newest first, including removed ones. */
  versions(name: string): Promise<WorkflowRow[]>;
  /** Marks every version of the name as removed. False when no version is left to remove. */
  remove(name: string, at: number): Promise<boolean>;
}
