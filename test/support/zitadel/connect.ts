import { z } from 'zod';
import type { ImportMeter, PlaceImportOptions } from '../../../cli/exports/placeInterfaces.ts';
import { openZitadelExport } from '../../../cli/zitadel/export/exportContent.ts';
import { importIntoZitadel } from '../../../cli/zitadel/import/importFile.ts';
import type { ZitadelConnection } from '../../../cli/zitadel/zitadelConnection.ts';
import { defaultExportOptions } from '../../../functions/export/contract.ts';
import type { RetryPolicy } from '../../../shared/retry.ts';
import { fileWith } from './files.ts';
import type { ZitadelStandIn } from './standIn.ts';

/** Connects to a stand-in, with retries for half a second. */
export function connectTo(zitadel: Pick<ZitadelStandIn, 'url'>, token = 'owner-token'): ZitadelConnection {
  return {
    origin: zitadel.url,
    token,
    tokenOption: '--token-file',
    signal: new AbortController().signal,
    retries: { attempts: () => 12, initialDelayMs: 100, maxDelayMs: 200 },
  };
}

const written = z.object({ orgs: z.array(z.looseObject({ orgId: z.string() })) });
const everything = { withPasswords: true, withOtp: true, withKeys: true };

/** Exports organisations with their secrets; by default all. */
export async function exportFromZitadel(
  zitadel: Pick<ZitadelStandIn, 'url'>,
  orgIds: readonly string[] = [],
  timeoutMs?: number,
) {
  const options = { ...defaultExportOptions, ...everything, orgIds, timeoutMs };
  await using content = openZitadelExport(connectTo(zitadel), options);
  const text = Buffer.concat(await Array.fromAsync(content.open(new AbortController().signal))).toString();
  return { text, orgs: written.parse(JSON.parse(text)).orgs };
}

/** Imports an export file, or one with the given organisations. */
export function importIntoStandIn(
  zitadel: Pick<ZitadelStandIn, 'url'>,
  content: Parameters<typeof fileWith>[0],
  given: Partial<Pick<PlaceImportOptions, 'onConflict' | 'newOrgsOnly' | 'dryRun' | 'timeoutMs'>> & {
    readonly onOpened?: () => void;
    readonly onBegun?: ImportMeter['onBegun'];
    readonly onStarted?: ImportMeter['onStarted'];
    readonly signal?: AbortSignal;
    readonly responseLimitMs?: number;
    readonly polls?: RetryPolicy;
  } = {},
) {
  const { onConflict = 'report', newOrgsOnly = false, dryRun = false, timeoutMs } = given;
  const {
    onOpened = () => {},
    onBegun = () => {},
    onStarted = () => {},
    signal = new AbortController().signal,
  } = given;
  const { open } = fileWith(content);
  const file = {
    isRepeatable: true,
    open: (ends: AbortSignal) => {
      onOpened();
      return open(ends);
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const scope = { orgIds: [], excludedOrgIds: [], newOrgsOnly, dryRun, timeoutMs };
  const options = { ...everything, ...scope, onConflict, ids: true };
  const { responseLimitMs, polls } = given;
  const limit = {
    ...(responseLimitMs === undefined ? {} : { responseLimitMs }),
    ...(polls === undefined ? {} : { polls }),
  };
  return importIntoZitadel(
    { ...connectTo(zitadel), ...limit },
    file,
    options,
    { onBegun, onStarted, onWait: () => {}, onUploading: () => {}, onRetry: () => {} },
    signal,
  );
}
