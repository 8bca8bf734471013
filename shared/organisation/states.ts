/**
 * The source of a record's state: `given` by the record; `derived` if the record omits it and its file states that this
 * means the usual state; `unknown` if the file may omit it. Imports create records with an unknown state in the most likely
 * state, and leave the states of existing records as they are.
 */
export const stateSources = ['given', 'derived', 'unknown'] as const;

/** The state of a record, decided where the record is read. */
export interface RecordState {
  /** A name of ZITADEL's enumerations. */
  readonly value: string;
  readonly source: (typeof stateSources)[number];
}

/** The fields that contain states: of records, and of organisations. */
export const stateFields: readonly string[] = ['state', 'orgState'];

/** Whether a record in a state has no access, or is switched off. An initial person gets access by a code. */
export function isClosed(state: string | undefined): boolean {
  return state !== undefined && state !== '' && !/_STATE_(?:ACTIVE|INITIAL)$/.test(state);
}
