import { join } from 'node:path';
import { openFile } from '../places/filePlace.ts';
import type { FilePlace, Place } from '../places/place.ts';
import type { PlaceFacts } from '../places/placeFacts.ts';
import type { ProgressOutput } from '../progress/trackPhase.ts';
import type { Journal } from './journal.ts';
import { type MigrationState, writeState } from './state.ts';

/** A place of a migration, and what it says of itself. */
export interface Side {
  readonly place: Place;
  /** What it is, such as `instance`, `zitadel`, `database`, `file` or `object`. */
  readonly kind: string;
  /** Undefined for a file or an object. */
  readonly facts: PlaceFacts | undefined;
}

/** A migration at work in its run directory. */
export class MigrationRun {
  readonly directory: string;
  readonly journal: Journal;
  readonly output: ProgressOutput;
  readonly signal: AbortSignal;
  private current: MigrationState;

  constructor(
    directory: string,
    state: MigrationState,
    journal: Journal,
    { output, signal }: { readonly output: ProgressOutput; readonly signal: AbortSignal },
  ) {
    this.directory = directory;
    this.current = state;
    this.journal = journal;
    this.output = journal.keepRates(output);
    this.signal = signal;
  }

  get state(): MigrationState {
    return this.current;
  }

  /** The path of the file that holds what moves. */
  get exportPath(): string {
    return join(this.directory, 'export.json.gz');
  }

  /** The file that holds what moves, as a place. */
  get export(): FilePlace {
    return { ...openFile(this.exportPath), name: 'the export' };
  }

  /** Keeps that a step is done, durably. */
  async advance(step: string, change: Partial<MigrationState>): Promise<void> {
    this.current = { ...this.current, ...change };
    await writeState(this.directory, this.current);
    this.journal.add({ event: 'step', step });
  }
}
