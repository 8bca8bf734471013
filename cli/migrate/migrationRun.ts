// A running migration. Its state exists only in this process. To continue an interrupted migration, the user runs the
// command again.

import { defined } from '../../shared/defined.ts';
import type { RecordWarning } from '../../shared/errors/warnings.ts';
import type { FileFacts } from '../exports/fileFacts.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import type { PlaceInspection } from '../exports/inspectPlace.ts';
import {
  type ExportFile,
  type FilePlace,
  importTarget,
  type PreparedImport,
  type StoredFile,
} from '../exports/placeInterfaces.ts';
import { openPrivateFile } from '../exports/privateFile.ts';
import { changedText } from '../exports/trackTransfer.ts';
import { reconnecting } from '../http/reconnection.ts';
import { callContext } from '../places/placeOptions.ts';
import { RunDatabase, type SizedOrganisation } from '../records/runDatabase.ts';
import type { SecretSelection } from '../records/secretSelection.ts';
import type { CallContext, PhaseState, ProgressOutput } from '../terminal/progress.ts';
import { selectsSecrets } from './chooseSecrets.ts';
import type { MigrationCall } from './migrationOptions.ts';
import type { MigrationPhase } from './migrationTypes.ts';
import type { OpenSides } from './openSides.ts';
import { type MigrationSettings, stagedOptions } from './settings.ts';

/** Facts about the export. */
export interface StagedExport {
  readonly inspection: PlaceInspection;
  /** Facts about the records of the export. */
  readonly facts: FileFacts;
  /** The organisations of the export, with their sizes. */
  readonly listed: readonly SizedOrganisation[];
  /** The number of records, including the organisations themselves and nested records. */
  readonly records: number;
  readonly organisations: number;
  /** The source's default organisation, if a file contains it. */
  readonly defaultOrgId: string | undefined;
  /** The id of the user who exported the source. `movedExporterId` is the same id if the export contains this user. */
  readonly exporterId: string | undefined;
  readonly movedExporterId: string | undefined;
  /**
   * Warnings about states that the source did not return, one per organisation. The migration treats such states as
   * active.
   */
  readonly notices: readonly RecordWarning[];
  /** The excluded organisations, each with the reason. */
  readonly leftOut: readonly { readonly orgId: string; readonly reason: string }[];
}

/** The phase in which the source is exported. */
export const EXPORTING = 'exporting';

/** The name of the export in messages. */
const THE_EXPORT = 'the export';

/** A running migration. Its disposal deletes the export. */
export class MigrationRun implements AsyncDisposable, CallContext {
  settings: MigrationSettings;
  /**
   * Whether the call or its user selects the secrets. Otherwise the source is a file, and all secrets of the file move.
   */
  readonly selectsSecrets: boolean;
  readonly startedAt = new Date().toISOString();
  readonly output: ProgressOutput;
  readonly signal: AbortSignal;
  /** The export: a private file, or the source itself if the source is a file. */
  readonly export: FilePlace;
  /** The path of the source if the source is a file. The command reads this file directly, without a copy. */
  readonly sourceFile: string | undefined;
  /** Whether the source is a file or an object, so that the export happened earlier. */
  private readonly isFromFile: boolean;
  /** The records of the export and of the target. */
  readonly database: RunDatabase;
  readonly privateFile = openPrivateFile(THE_EXPORT);
  private staged: StagedExport | undefined;
  private readonly attempts = new Map<string, MigrationPhase>();
  /** The prepared import into ZITADEL. Undefined before its preparation. */
  prepared: PreparedImport | undefined;
  /** How far the run is. If the step is `planning`, the target contains no records of this run. */
  step: 'planning' | 'importing' | 'imported' = 'planning';
  /** Whether the import took several requests, so that earlier requests may have written records. */
  isRepeated = false;
  /** The response of the target's import. */
  response: ImportResponse | undefined;
  /** The file that the target stored. */
  stored: StoredFile | undefined;

  constructor(call: MigrationCall, settings: MigrationSettings, { source, target }: OpenSides) {
    this.settings = settings;
    this.selectsSecrets = selectsSecrets(call);
    this.database = new RunDatabase(settings, importTarget(target.facts, settings));
    this.signal = call.signal;
    const { place, kind } = source;
    this.isFromFile = place.takes === 'files';
    const isRead = place.takes === 'files' && kind === 'file';
    this.sourceFile = isRead ? place.name : undefined;
    this.export = isRead ? { ...place, name: THE_EXPORT } : this.privateFile;
    const { output } = callContext(call);
    this.output = {
      ...output,
      finish: (phase, hasSucceeded) => {
        output.finish(phase, hasSucceeded);
        // Moves a repeated phase to the end.
        this.attempts.delete(phase.phase);
        this.attempts.set(phase.phase, describePhase(phase, hasSucceeded));
      },
    };
  }

  /** Whether the export is complete and was read. */
  get isStaged(): boolean {
    return this.staged !== undefined;
  }

  get exported(): StagedExport {
    if (this.staged === undefined) throw new Error('the source is not exported');
    return this.staged;
  }

  set exported(staged: StagedExport) {
    this.staged = staged;
  }

  /** The phases so far. A repeated phase has the figures of its last attempt. */
  get phases(): readonly MigrationPhase[] {
    return [...this.attempts.values()];
  }

  /**
   * The time when this run began to read the source. For a file, the time of the export, if the file's manifest
   * contains it.
   */
  get sourceReadAt(): string | undefined {
    return this.isFromFile ? this.exported.inspection.manifest?.readTime : this.attempts.get(EXPORTING)?.startedAt;
  }

  /** Selects the secrets to move. */
  select(selection: SecretSelection): void {
    this.settings = { ...this.settings, ...selection };
    this.database.selection = selection;
  }

  /** Opens the export for reading. */
  openExport(): Promise<ExportFile> {
    return this.export.readExport(stagedOptions(this.settings), this.signal);
  }

  /** Runs idempotent work, and repeats the work after a lost connection. */
  reconnecting<Result>(work: () => Promise<Result>): Promise<Result> {
    return reconnecting({ ...this, limitMs: this.settings.timeoutMs }, work);
  }

  /** Describes what the target has received by now. */
  get progressText(): string {
    const { to } = this.settings;
    if (this.step === 'planning') return `nothing is changed in ${to}`;
    if (this.step === 'imported') return `all records were sent to ${to}, and are not verified yet`;
    return changedText(to, this.attempts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.database[Symbol.dispose]();
    await this.privateFile[Symbol.asyncDispose]();
  }
}

function describePhase(state: PhaseState, succeeded: boolean): MigrationPhase {
  const { phase, startedAt, seconds, records, bytes, unchanged, perSecond } = state;
  const amounts = { records, ...defined({ bytes }), unchanged };
  return { phase, startedAt, seconds, ...amounts, perSecond, succeeded };
}
