import { counted } from '../texts.ts';
import type { ZitadelConnection } from '../zitadel/connection.ts';
import { exportContent, exportLosses } from '../zitadel/export/exportContent.ts';
import { importIntoZitadel } from '../zitadel/import/importFile.ts';
import { importChanges } from '../zitadel/import/importSteps.ts';
import { requestLimits } from '../zitadel/import/outgoingRecords.ts';
import {
  countTokens,
  deleteServiceUser,
  importsStates,
  listOwners,
  readCaller,
  readInstance,
  readOwnOrganisation,
} from '../zitadel/instance.ts';
import type { InstanceSettings } from './instancePlace.ts';
import type { DatabasePlace, DeletableUser, Operation, PlaceFacts, Recognised } from './place.ts';

/** Opens a ZITADEL as a place: it exports organisation by organisation, and imports in steps. */
export function openZitadel({ origin, token, tokenOption }: InstanceSettings, recognised: Recognised): DatabasePlace {
  const connect = (signal: AbortSignal): ZitadelConnection => ({ baseUrl: origin, token, tokenOption, signal });
  return {
    takes: 'imports',
    name: origin,
    readExport: async (options) => exportContent(connect, options),
    import: (content, options, meter, signal) => importIntoZitadel(connect, content, options, meter, signal),
    facts: (operations, signal) => readZitadelFacts(connect(signal), recognised, operations),
    findDeletable: (signal) => findDeletable(connect, signal),
  };
}

/** Looks at the user of the token. Only a service user has tokens that can be counted. */
async function findDeletable(
  connect: (signal: AbortSignal) => ZitadelConnection,
  signal: AbortSignal,
): Promise<DeletableUser> {
  const connection = connect(signal);
  const { userId, userName, createdAt, isServiceUser, roles } = await readCaller(connection);
  return {
    userId,
    name: userName,
    organisation: await readOwnOrganisation(connection),
    createdAt,
    tokens: isServiceUser ? await countTokens(connection, userId) : 0,
    keptBecause: isServiceUser ? await ownerReason(connection, userId, roles) : 'it is a person',
    delete: (ends) => deleteServiceUser(connect(ends), userId),
  };
}

async function ownerReason(connection: ZitadelConnection, userId: string, roles: readonly string[]) {
  if (!roles.includes('IAM_OWNER')) return undefined;
  const isLast = (await listOwners(connection)).every((owner) => owner === userId);
  return isLast ? 'it is the last IAM_OWNER' : undefined;
}

/** The roles that permit an operation. In a ZITADEL, readers of the instance may export its secrets. */
const permitting: Readonly<Record<Operation, ReadonlySet<string>>> = {
  export: new Set(['IAM_OWNER', 'IAM_OWNER_VIEWER', 'IAM_LOGIN_CLIENT']),
  import: new Set(['IAM_OWNER']),
};

/** Asks a ZITADEL about itself and the token. */
async function readZitadelFacts(
  connection: ZitadelConnection,
  recognised: Recognised,
  operations: readonly Operation[],
): Promise<PlaceFacts> {
  const { userId, orgId, roles } = await readCaller(connection);
  const permits = (operation: Operation) => roles.some((role) => permitting[operation].has(role));
  const { records, bytes } = requestLimits;
  const hasStates = await importsStates(connection);
  return {
    ...recognised,
    // Others may not read the instance.
    ...(permits('export') ? await readInstance(connection) : { instance: undefined, defaultOrgId: undefined }),
    importsStates: hasStates,
    caller: { userId, orgId, roles },
    denied: operations.filter((operation) => !permits(operation)),
    limits: [
      'an export is one call per organisation, each of at most 60 s: about 80,000 people with password hashes, or 300,000 without',
      `an import is sent in requests of at most ${counted(records, 'record')} and ${counted(bytes, 'byte')}`,
      ...(hasStates ? [] : ['it exports and imports no states of organisations and users: searches return them']),
    ],
    exportLosses,
    importChanges,
  };
}
