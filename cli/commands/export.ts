import { withoutEmpty } from '../../shared/defined.ts';
import type {
  ExportFile,
  FilePlace,
  Place,
  PlaceExportOptions,
  StoredFile,
  UnexportedOrganisation,
} from '../exports/placeInterfaces.ts';
import type { RecordCounter } from '../exports/recordCounter.ts';
import type { ReadContent } from '../exports/trackTransfer.ts';
import {
  callContext,
  eventsOption,
  exportChoices,
  exportOptionsOf,
  placeDetails,
  RUN_AND_OUTPUT,
  secretsOfTwo,
  toOption,
} from '../places/placeOptions.ts';
import type { SecretSelection } from '../records/secretSelection.ts';
import { defineCommand, flag, interruptible, type Output, required, usageError } from '../terminal/command.ts';
import { firstNotices, noticeSection } from '../terminal/notices.ts';
import { counted } from '../terminal/numberTexts.ts';
import type { CallContext } from '../terminal/progress.ts';
import { section } from '../terminal/terminal.ts';

export const exportCommand = defineCommand({
  name: 'export',
  summary: 'export organisations to a new file or object',
  details: `${placeDetails} The default organisation is left out unless --org selects it.`,
  arguments: [required('PLACE', 'the source')],
  options: {
    ...toOption('the new file or object, or standard output'),
    ...exportChoices,
    'for-zitadel': flag('write a file that ZITADEL imports without loss', RUN_AND_OUTPUT),
    ...secretsOfTwo('the source', 'the target'),
    ...eventsOption,
  },
  examples: [
    'export https://id.example.com --token-file owner.pat --to north.json.gz --with passwords,otp,keys',
    'export sqlite:./north --to gs://exports/north.json --credentials-file exporter.json',
  ],
  run: async (call) => {
    const { openPlaces } = await import('../open/openPlaces.ts');
    const { requireEffects } = await import('../open/optionEffects.ts');
    const {
      arguments: [from],
      options: callOptions,
      signal,
    } = call;
    const [source, target] = await openPlaces(call, callOptions, from, callOptions.to);
    if (target.takes !== 'files')
      throw usageError(`the target ${target.name} is not a file: use \`identity import\` with --to ${target.name}`);
    const { 'for-zitadel': isForZitadel, ...choices } = callOptions;
    const options = exportOptionsOf({ options: choices });
    // If the command writes the export to standard output, it prints all messages on standard error.
    const stream = target.name === '-' ? 'stderr' : 'stdout';
    const context = callContext(call, call[stream]);
    requireSelectable(source, options, callOptions.with !== undefined || isForZitadel);
    await requireEffects(callOptions, signal, { place: source }, { place: target });
    await target.requireFree?.(signal);
    return interruptible(signal, `interrupted: ${unfinishedText(target)}; repeat the command`, async () => ({
      ...(await exportInto(target, source, { ...options, isForZitadel }, context)),
      stream,
    }));
  },
});

async function exportInto(
  target: FilePlace,
  source: Place,
  { isForZitadel, ...options }: PlaceExportOptions & { readonly isForZitadel: boolean },
  context: CallContext,
): Promise<Output> {
  const { stayingOrganisation, withoutOrganisation } = await import('../exports/defaultOrganisation.ts');
  const { RecordCounter: Counter, requestLines } = await import('../exports/recordCounter.ts');
  const counter = new Counter(source.name, options);
  const unexported: UnexportedOrganisation[] = [];
  const onUnexported = (organisation: UnexportedOrganisation) => {
    unexported.push(organisation);
    counter.missing.delete(organisation.orgId);
  };
  const isWhole = source.takes === 'imports' && options.orgIds.length === 0;
  const facts = isWhole ? await source.facts(['export'], context.signal) : undefined;
  const stays = stayingOrganisation(facts, options.orgIds);
  await using content = await source.readExport(
    { ...withoutOrganisation(options, stays), onUnexported },
    context.signal,
  );
  const read = { name: source.name, content, counter };
  const stored = await storeExport(target, read, isForZitadel ? options : undefined, context);
  const left =
    stays === undefined ? [] : [`not exported: ${stays}, the default organisation (--org ${stays} exports it)`];
  const requested = [...left, ...requestLines(counter.request)];
  return exportOutput(stored, counter, content, requested, unexported);
}

/** @param secrets the included kinds of secrets; undefined unless the call has `--for-zitadel` */
async function storeExport(
  target: FilePlace,
  read: Required<ReadContent>,
  secrets: SecretSelection | undefined,
  context: CallContext,
): Promise<StoredFile> {
  if (secrets !== undefined) {
    const { storeForZitadel } = await import('../exports/zitadelFile.ts');
    return storeForZitadel(target, read, secrets, context);
  }
  const { trackStore } = await import('../exports/trackTransfer.ts');
  return trackStore(target, read, 'exporting', context);
}

/**
 * Rejects options that select records or secrets if the source is a file, because the command always copies the whole
 * file.
 * @throws IdentityError USAGE_INVALID
 */
function requireSelectable({ name, takes }: Place, options: PlaceExportOptions, selectsMore: boolean): void {
  const { orgIds, excludedOrgIds } = options;
  const isSelective = orgIds.length + excludedOrgIds.length > 0 || selectsMore;
  if (takes === 'files' && isSelective)
    throw usageError(
      `an export copies the file ${name} with all organisations and secrets: omit --org, --exclude-org, --with and --for-zitadel, which apply only to instances and databases`,
    );
}

function unfinishedText({ name }: FilePlace): string {
  return name === '-' ? 'the output is incomplete' : `${name} was not created`;
}

function exportOutput(
  stored: StoredFile,
  { records, organisations, request }: RecordCounter,
  { losses = [], notices = [] }: ExportFile,
  requested: readonly string[],
  unexported: readonly UnexportedOrganisation[],
): Output {
  const text = [
    `exported ${counted(organisations, 'organisation')} with ${counted(records, 'record')} to ${stored.place}, ${counted(stored.bytes, 'byte')}`,
    ...unexported.map(({ message }) => `not exported: ${message}`),
    ...requested,
    ...section('Not exported by ZITADEL', losses),
    ...noticeSection('warning', [], 0, firstNotices(notices)),
  ];
  return {
    json: {
      event: 'result',
      organisations,
      records,
      ...stored,
      ...withoutEmpty({ unexported, losses, notices }),
      ...request,
    },
    text,
    exitStatus: () => (unexported.length === 0 ? 'done' : 'listed'),
  };
}
