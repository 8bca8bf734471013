import { expect } from 'vitest';
import { z } from 'zod';
import type { ImportMeter, PlaceImportOptions } from '../../../cli/exports/placeInterfaces.ts';
import { openZitadelExport } from '../../../cli/zitadel/export/exportContent.ts';
import { importIntoZitadel } from '../../../cli/zitadel/import/importFile.ts';
import type { ZitadelConnection } from '../../../cli/zitadel/zitadelConnection.ts';
import { defaultExportOptions } from '../../../functions/export/contract.ts';
import { defined } from '../../../shared/defined.ts';
import { hasParams } from '../../../shared/errors/issueText.ts';
import { recordIssues } from '../../../shared/errors/recordIssues.ts';
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

const written = z.object({
  orgs: z.array(z.looseObject({ orgId: z.string() })),
  manifest: z.looseObject({ readTime: z.string() }),
});
const everything = { withPasswords: true, withOtp: true, withKeys: true };

/** Exports organisations with their secrets; by default all organisations. */
export async function exportFromZitadel(
  zitadel: Pick<ZitadelStandIn, 'url'>,
  orgIds: readonly string[] = [],
  timeoutMs?: number,
) {
  const options = { ...defaultExportOptions, ...everything, orgIds, timeoutMs };
  await using content = openZitadelExport(connectTo(zitadel), options);
  const text = Buffer.concat(await Array.fromAsync(content.open(new AbortController().signal))).toString();
  return { text, ...written.parse(JSON.parse(text)) };
}

/**
 * Imports an export file, or a file with the given organisations. Each error must have a reason with its parameters.
 */
export async function importIntoStandIn(
  zitadel: Pick<ZitadelStandIn, 'url'>,
  content: Parameters<typeof fileWith>[0],
  given: Partial<
    Pick<
      PlaceImportOptions,
      'onConflict' | 'dryRun' | 'timeoutMs' | 'mirror' | 'maxDeleted' | 'replaceChanged' | 'orgIds'
    >
  > & {
    readonly onOpened?: () => void;
    readonly onPhase?: ImportMeter['onPhase'];
    readonly onStarted?: () => void;
    readonly signal?: AbortSignal;
    readonly responseLimitMs?: number;
    readonly polls?: RetryPolicy;
  } = {},
) {
  const { onConflict = 'report', dryRun = false, timeoutMs } = given;
  const {
    onOpened = () => {},
    onPhase = () => {},
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
  const { orgIds = [], mirror, maxDeleted, replaceChanged } = given;
  const scope = { orgIds, excludedOrgIds: [], dryRun, timeoutMs, ...defined({ mirror, maxDeleted, replaceChanged }) };
  const options = { ...everything, ...scope, onConflict, ids: true };
  const { responseLimitMs, polls } = given;
  const limit = {
    ...(responseLimitMs === undefined ? {} : { responseLimitMs }),
    ...(polls === undefined ? {} : { polls }),
  };
  const response = await importIntoZitadel(
    { ...connectTo(zitadel), ...limit },
    file,
    options,
    {
      onPhase: (phase, done) => {
        onPhase(phase, done);
        if (phase === 'importing') onStarted();
      },
      onWait: () => {},
      onExcess: () => {},
      onRetry: () => {},
    },
    signal,
  );
  for (const { reason, params = {}, type } of [...(response.errors ?? []), ...(response.elsewhere ?? [])]) {
    const row = Object.entries(recordIssues).find(([name]) => name === reason)?.[1];
    expect(row && hasParams(row, { record: type, ...params }), reason).toBe(true);
  }
  return response;
}
