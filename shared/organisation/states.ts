/** The state of a record: given by its file, or derived from what the file has. */
export interface RecordState {
  /** A name of ZITADEL's enumerations. */
  readonly value: string;
  readonly source: 'given' | 'derived';
}

/** Whether a record in a state has no access, or is switched off. An initial person gets access by a code. */
export function isClosed(state: string | undefined): boolean {
  return state !== undefined && state !== '' && !/_STATE_(?:ACTIVE|INITIAL)$/.test(state);
}
