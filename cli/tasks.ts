/** One of several processes that share the work of a command. */
export interface Task {
  /** From 0. */
  readonly index: number;
  readonly count: number;
}
