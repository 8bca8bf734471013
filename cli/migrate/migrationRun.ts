// A running migration. Its state exists only in this process. So the user runs the command again to continue an
// interrupted migration.

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

/** Facts about an export that the command has read completely. */
export interface StagedExport {
  readonly inspection: PlaceInspection;
  readonly facts: FileFacts;
  readonly listed: readonly SizedOrganisation[];
  /** The number of all records: organisations, their records and nested records. */
  readonly records: number;
  readonly organisations: number;
  /** The id of the source's default organisation, if the source is a file that contains this organisation. */
  readonly defaultOrgId: string | undefined;
  /**
   * The id of the user who exported the source. `movedExporterId` is the same id if the export contains this user,
   * otherwise undefined.
   */
  readonly exporterId: string | undefined;
  readonly movedExporterId: string | undefined;
  /**
   * Warnings that the source did not return the states of some records. Each warning is about one organisation. The
   * migration treats these records as active.
   */
  readonly notices: readonly RecordWarning[];
  readonly leftOut: readonly { readonly orgId: string; readonly reason: string }[];
}

export const EXPORTING = 'exporting';

const THE_EXPORT = 'the export';

/** Disposing of a run deletes the stored export and the run's database. */
export class MigrationRun implements AsyncDisposable, CallContext {
  settings: MigrationSettings;
  readonly selectsSecrets: boolean;
  readonly startedAt = new Date().toISOString();
  readonly output: ProgressOutput;
  readonly signal: AbortSignal;
  /** The stored export of the source. If the source is a file, this property is the file itself. */
  readonly export: FilePlace;
  /** The path of the source if the source is a file. The command reads this file directly, without a copy. */
  readonly sourceFile: string | undefined;
  /** True if the source is a file, or an object in a bucket. Its export was made before this run. */
  private readonly isFromFile: boolean;
  readonly database: RunDatabase;
  readonly privateFile = openPrivateFile(THE_EXPORT);
  private staged: StagedExport | undefined;
  private readonly attempts = new Map<string, MigrationPhase>();
  /** The import into ZITADEL, after `prepareImport` has prepared it. Undefined before that, and for other targets. */
  prepared: PreparedImport | undefined;
  /** In `planning`, the target contains no records of this run yet. */
  step: 'planning' | 'importing' | 'imported' = 'planning';
  /** Whether the import was repeated. An earlier attempt may then have written records. */
  isRepeated = false;
  response: ImportResponse | undefined;
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
        // If this phase was repeated, `delete` ensures that its new entry comes last in the map.
        this.attempts.delete(phase.phase);
        this.attempts.set(phase.phase, describePhase(phase, hasSucceeded));
      },
    };
  }

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

  /** A repeated phase has the numbers of its last attempt. */
  get phases(): readonly MigrationPhase[] {
    return [...this.attempts.values()];
  }

  /**
   * The time when this run began to read the source. If the source is a file, the time of its export according to its
   * manifest. Undefined if this time is unknown.
   */
  get sourceReadAt(): string | undefined {
    return this.isFromFile ? this.exported.inspection.manifest?.readTime : this.attempts.get(EXPORTING)?.startedAt;
  }

  select(selection: SecretSelection): void {
    this.settings = { ...this.settings, ...selection };
    this.database.selection = selection;
  }

  openExport(): Promise<ExportFile> {
    return this.export.readExport(stagedOptions(this.settings), this.signal);
  }

  reconnecting<Result>(work: () => Promise<Result>): Promise<Result> {
    return reconnecting({ ...this, limitMs: this.settings.timeoutMs }, work);
  }

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
