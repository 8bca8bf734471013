import { z } from 'zod';
import { callSignal } from '../../../shared/http/deadline.ts';
import { isJsonObject, type JsonObject, putAt, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { sections } from '../../../shared/organisation/sections.ts';
import { Backoff } from '../../../shared/retry.ts';
import type { ExportContent, ExportOptions } from '../../places/place.ts';
import { searchAll, type ZitadelConnection } from '../connection.ts';
import { type ExportCallResult, type ExportedSecrets, exportOne } from './exportCall.ts';
import { addGrantsBetween } from './grantsBetween.ts';

/**
 * Returns an export file that is made of one export per organisation while it is read.
 * @param connect connects for the time of one reading
 */
export function exportContent(
  connect: (signal: AbortSignal) => ZitadelConnection,
  options: ExportOptions,
): ExportContent {
  let [done, total] = [0, 0];
  async function* bytes(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    using call = callSignal(signal, options.timeoutMs);
    const connection = connect(call.signal);
    const orgIds =
      options.orgIds.length > 0 ? options.orgIds : (await listOrganisations(connection)).map(({ id }) => id);
    const excluded = new Set(options.excludedOrgIds);
    [done, total] = [0, orgIds.filter((id) => !excluded.has(id)).length];
    const { excludedOrgIds, withPasswords, withOtp } = options;
    async function* organisations(): AsyncGenerator<ExportedOrganisation> {
      const selection = { orgIds, excludedOrgIds, withPasswords, withOtp };
      for await (const exported of exportOrganisations(connection, selection)) {
        if (exported.organisation !== undefined) applyOptions(exported.organisation, options);
        yield exported;
        done++;
      }
    }
    for await (const text of exportFileText(organisations())) yield Buffer.from(text);
  }
  return {
    isRepeatable: false,
    losses: exportLosses,
    open: bytes,
    fraction: () => (total === 0 ? undefined : done / total),
    [Symbol.asyncDispose]: async () => {},
  };
}

/**
 * Applies the options that a ZITADEL does not know: it exports keys and the secrets of identity providers to everybody
 * who may export, and service users in a form that loses their ids.
 */
function applyOptions(organisation: JsonObject, options: ExportOptions): void {
  for (const { name, keys, credentials = [], exported: { innerId } = {} } of sections) {
    if (keys === true && !options.withKeys) delete organisation[name];
    for (const record of recordsIn(organisation[name])) {
      for (const { path, flag } of credentials)
        if (!options[flag] && valueAt(record, path) !== undefined) putAt(record, path, undefined);
      if (innerId !== undefined && options.forZitadel)
        putAt(record, `${innerId.inner}.${innerId.from}`, textAt(record, innerId.from, ''));
    }
  }
}

function recordsIn(section: unknown): JsonObject[] {
  return Array.isArray(section) ? section.filter(isJsonObject) : [];
}

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

/** What every export of a ZITADEL leaves out or changes (zitadel 9), as a migration's plan says it. */
export const exportLosses: readonly string[] = [
  'the policies, members, identity providers, texts and settings of the instance, and the metadata of organisations',
  'notification policies, password age policies, and of login policies `allowDomainDiscovery`, `disableLoginWithEmail` and `disableLoginWithPhone`',
  'the theme mode, logos, icons and fonts of label policies',
  'identity providers other than OIDC and JWT of the older kind: links of people to them are exported, and work once the target has the provider',
  'SAML applications, the client ids and client secrets of all applications, `backChannelLogoutUri` and `loginVersion`',
  'passkeys, U2F factors, OTP by SMS and by e-mail, and whether a person must change the password',
  'personal access tokens and secrets of service users, and the type of their access tokens',
  'flows other than external and internal authentication, and the texts of invitations',
  'the states of projects, applications and actions: inactive ones are exported as if active',
  'the texts of passwordless registration: those of claimed domains are exported under their name',
  'sessions: each person logs in once after the migration',
];
