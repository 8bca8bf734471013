import { callSignal } from '../../../shared/http/deadline.ts';
import { isJsonObject, type JsonObject, putAt, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { sections } from '../../../shared/organisation/sections.ts';
import type { ExportContent, ExportOptions } from '../../places/place.ts';
import type { ZitadelConnection } from '../connection.ts';
import { exportLosses } from './exportLosses.ts';
import {
  type ExportedOrganisation,
  exportFileText,
  exportOrganisations,
  listOrganisations,
} from './exportOrganisations.ts';

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
  for (const { name, keys, credentials = [], innerId } of sections) {
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
