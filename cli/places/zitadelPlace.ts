import { placeNotKnown } from '../../shared/errors/placeErrors.ts';
import { deleteServiceUser } from '../zitadel/cleanUp.ts';
import type { ZitadelConnection } from '../zitadel/connection.ts';
import { readCaller, readInstance, recogniseZitadel } from '../zitadel/recognise.ts';
import { exportContent } from '../zitadel/source/exportContent.ts';
import { exportLosses } from '../zitadel/source/exportLosses.ts';
import { importChanges } from '../zitadel/target/importChanges.ts';
import { requestLimits } from '../zitadel/target/importRequest.ts';
import type { InstanceSettings } from './instanceFacts.ts';
import type { DatabasePlace } from './place.ts';
import { clockAhead, type PlaceFacts } from './placeFacts.ts';
import { importIntoZitadel } from './zitadelImport.ts';

/** Opens a ZITADEL as a place: it exports organisation by organisation, and imports in steps. */
export function openZitadel({ origin, token }: InstanceSettings): DatabasePlace {
  const connect = (signal: AbortSignal): ZitadelConnection => ({ baseUrl: origin, token: async () => token, signal });
  return {
    takes: 'imports',
    name: origin,
    readExport: async (options) => exportContent(connect, options),
    import: (content, options, meter, signal) => importIntoZitadel(connect, content, options, meter, signal),
    facts: (signal) => readZitadelFacts(connect(signal)),
    async deleteCaller(signal) {
      const { userId, isServiceUser } = await readCaller(connect(signal));
      return isServiceUser && (await deleteServiceUser(connect(signal), userId));
    },
  };
}

/** The roles that may export and import. In a ZITADEL, readers of the instance may export its secrets. */
const exporters = new Set(['IAM_OWNER', 'IAM_OWNER_VIEWER', 'IAM_LOGIN_CLIENT']);
const importers = new Set(['IAM_OWNER']);

/** Asks a ZITADEL about itself and the token. */
async function readZitadelFacts(connection: ZitadelConnection): Promise<PlaceFacts> {
  const found = await recogniseZitadel(connection);
  if (found === undefined) throw placeNotKnown(connection.baseUrl, 'it has changed since it was recognised');
  const { userId, userName, orgId, roles } = await readCaller(connection);
  const mayExport = roles.some((role) => exporters.has(role));
  // Others may not read the instance.
  const instance = mayExport ? await readInstance(connection) : undefined;
  const { records, bytes } = requestLimits;
  return {
    service: 'zitadel',
    version: instance?.version,
    instance: instance?.name,
    defaultOrgId: instance?.defaultOrgId,
    domains: instance?.domains ?? [],
    caller: { userId, userName, orgId, roles },
    mayExport,
    mayImport: roles.some((role) => importers.has(role)),
    clockAheadMs: clockAhead(found.time),
    limits: [
      'an export is one call per organisation, each of at most 60 s: about 80,000 people with password hashes, or 300,000 without',
      `an import is sent in requests of at most ${records.toLocaleString('en')} records and ${bytes.toLocaleString('en')} bytes, about 250 people per second`,
    ],
    exportLosses,
    importChanges,
  };
}
