import { z } from 'zod';
import type { JsonObject } from '../../../shared/json/jsonObject.ts';
import { Backoff } from '../../../shared/retry.ts';
import type { ZitadelConnection } from '../connection.ts';
import { searchAll } from '../search.ts';
import { type ExportCallResult, type ExportedSecrets, exportOne } from './exportCall.ts';
import { addGrantsBetween } from './grantsBetween.ts';

/** What to export of a ZITADEL. */
export interface ZitadelSelection extends ExportedSecrets {
  /** The organisations; all of the instance if empty. */
  readonly orgIds: readonly string[];
  readonly excludedOrgIds: readonly string[];
  /** The time limit for the export of one organisation; 60 s by default, after which gateways cut it off. */
  readonly timeoutMs?: number;
}

/** An organisation that was exported, or that the ZITADEL does not have. */
export interface ExportedOrganisation extends ExportCallResult {
  readonly orgId: string;
  readonly milliseconds: number;
}

const organisationResult = z.looseObject({ id: z.string(), name: z.string().default('') });

/** Lists the ids and names of all organisations of a ZITADEL. */
export function listOrganisations(connection: ZitadelConnection): Promise<{ id: string; name: string }[]> {
  return searchAll(connection, { path: '/admin/v1/orgs/_search', result: organisationResult });
}

/**
 * Exports organisations of a ZITADEL one by one, each by a call of its own, and holds one of them at a time. The
 * selection is made here: a ZITADEL dies of `excluded_org_ids` that match.
 * @throws IdentityError for a ZITADEL that does not respond, denies the call, or takes too long
 */
export async function* exportOrganisations(
  connection: ZitadelConnection,
  { orgIds, excludedOrgIds, timeoutMs, ...secrets }: ZitadelSelection,
): AsyncGenerator<ExportedOrganisation, void, void> {
  const excluded = new Set(excludedOrgIds);
  const listed = orgIds.length > 0 ? orgIds : (await listOrganisations(connection)).map(({ id }) => id);
  for (const orgId of new Set(listed))
    if (!excluded.has(orgId)) yield exportNext(connection, orgId, secrets, timeoutMs);
}

async function exportNext(
  connection: ZitadelConnection,
  orgId: string,
  secrets: ExportedSecrets,
  timeoutMs?: number,
): Promise<ExportedOrganisation> {
  const start = performance.now();
  const { organisation, protocol } = await exportOne(connection, orgId, secrets, timeoutMs);
  if (organisation !== undefined) await addGrantsBetween(connection, orgId, organisation);
  return { orgId, organisation, protocol, milliseconds: performance.now() - start };
}

/** A ZITADEL's exports show what was written after 2 s at most. */
const projected = { attempts: () => 16, initialDelayMs: 250, maxDelayMs: 1_000 };

/**
 * Exports an organisation that was written a moment ago, until the export shows it.
 * @param isCurrent whether the export shows what was written
 * @returns the last export, current or not
 */
export async function exportCurrent(
  connection: ZitadelConnection,
  orgId: string,
  secrets: ExportedSecrets,
  isCurrent: (organisation: JsonObject | undefined) => boolean,
): Promise<ExportedOrganisation> {
  const backoff = new Backoff(projected, connection.signal);
  for (;;) {
    const exported = await exportNext(connection, orgId, secrets);
    if (isCurrent(exported.organisation) || !(await backoff.failed('stale'))) return exported;
  }
}

/**
 * Writes exported organisations as an export file, as they come.
 * @param organisations those that the ZITADEL does not have are left out
 */
export async function* exportFileText(organisations: AsyncIterable<{ organisation: JsonObject | undefined }>) {
  let separator = '{"orgs":[\n';
  for await (const { organisation } of organisations) {
    if (organisation === undefined) continue;
    yield `${separator}${JSON.stringify(organisation)}`;
    separator = ',\n';
  }
  yield separator === ',\n' ? '\n]}\n' : '{"orgs":[]}\n';
}
