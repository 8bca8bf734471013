import { defined } from '../../shared/defined.ts';
import { words } from '../../shared/errors/nouns.ts';
import { placeNotKnown, placeTokenForbidden } from '../../shared/errors/placeErrors.ts';
import { recordSections } from '../../shared/organisation/allSections.ts';
import { fieldFacts } from '../../shared/organisation/fieldFacts.ts';
import { importFacts } from '../../shared/organisation/importsIntoZitadel.ts';
import { stateless } from '../../shared/organisation/sections/sectionStates.ts';
import { mayApply } from '../../shared/organisation/zitadelFacts.ts';
import { overlap, type ReleaseRange } from '../../shared/organisation/zitadelReleases.ts';
import type { DatabasePlace, PlaceFacts, PlaceOperation, Recognised } from '../exports/placeInterfaces.ts';
import type { InstanceSettings } from '../places/calledServer.ts';
import { counted } from '../terminal/numberTexts.ts';
import { exportLosses, openZitadelExport } from './export/exportContent.ts';
import { closables } from './import/closable.ts';
import { FileImport, importIntoZitadel } from './import/importFile.ts';
import { requestLimits } from './import/outgoingRecords.ts';
import { readOrganisations } from './organisationEvents.ts';
import type { ZitadelConnection } from './zitadelConnection.ts';
import { readCaller, readInstance, readReleases, recogniseZitadel } from './zitadelInstance.ts';

export function openZitadel(settings: InstanceSettings, recognised: Recognised): DatabasePlace {
  return {
    takes: 'imports',
    name: settings.origin,
    readExport: async (options) => openZitadelExport(settings, options),
    import: async (content, options, meter, signal) => {
      await requireRole({ ...settings, signal }, 'import');
      return await importIntoZitadel(settings, content, options, meter, signal);
    },
    prepareImport: async (database) => {
      const file = new FileImport(settings, database);
      return {
        add: (record, holder) => file.add(record, holder),
        reset: () => file.reset(),
        import: async (read, options, meter, signal) => {
          // Another service may have taken over the address since the command recognised ZITADEL there. That service
          // must not receive the token.
          const recognised = await recogniseZitadel({ ...settings, signal });
          if (typeof recognised === 'string')
            throw placeNotKnown({ place: settings.origin, reason: recognised, ofZitadel: recognised });
          await requireRole({ ...settings, signal }, 'import');
          return await file.import(read, options, meter, signal);
        },
      };
    },
    organisations: async (signal) => [...(await readOrganisations({ ...settings, signal })).values()],
    facts: (operations, signal) => readZitadelFacts({ ...settings, signal }, recognised, operations),
  };
}

function caselessKinds(releases: ReleaseRange): string {
  const facts = recordSections.flatMap(({ zitadel }) => zitadel?.caseless ?? []);
  return [...new Set(facts.filter((fact) => overlap(fact, releases)).map(({ kind }) => kind))].join(', ');
}

function importChanges(releases: ReleaseRange): readonly string[] {
  const later = closables.filter(({ isAtOnce }) => isAtOnce !== true).flatMap(({ sections }) => sections);
  const kinds = { caseless: caselessKinds(releases), closedLast: later.map(words).join(', ') };
  const facts = recordSections.flatMap(fieldFacts).filter((fact) => mayApply(fact, releases));
  return [
    ...importFacts.filter((fact) => mayApply(fact, releases)).map(({ plan }) => plan(kinds)),
    ...new Set(facts.flatMap(({ plan }) => plan ?? [])),
  ];
}

/**
 * For each operation, the roles that permit it. In ZITADEL, a user who can read the instance can also export its
 * secrets.
 */
const permitting: Readonly<Record<PlaceOperation, ReadonlySet<string>>> = {
  export: new Set(['IAM_OWNER', 'IAM_OWNER_VIEWER', 'IAM_LOGIN_CLIENT']),
  import: new Set(['IAM_OWNER']),
};

function isPermitted(roles: readonly string[], operation: PlaceOperation): boolean {
  return roles.some((role) => permitting[operation].has(role));
}

/**
 * Requires a role that permits the operation. The check is necessary because a dry run would not show that a role is
 * missing.
 * @throws IdentityError PLACE_TOKEN_FORBIDDEN if the token's user has no such role
 */
async function requireRole(connection: ZitadelConnection, operation: PlaceOperation): Promise<void> {
  const { roles } = await readCaller(connection);
  if (isPermitted(roles, operation)) return;
  const problem =
    roles.length === 0
      ? 'the user of the token has no role in the instance'
      : `the user of the token is only ${roles.join(', ')}`;
  throw placeTokenForbidden(connection.origin, connection.tokenOption, problem);
}

async function readZitadelFacts(
  connection: ZitadelConnection,
  recognised: Recognised,
  operations: readonly PlaceOperation[],
): Promise<PlaceFacts> {
  const { userId, orgId, roles } = await readCaller(connection);
  const permits = (operation: PlaceOperation) => isPermitted(roles, operation);
  const { records, bytes } = requestLimits;
  // Reading the instance requires the same roles as an export.
  const instance = permits('export')
    ? await readInstance(connection)
    : { version: undefined, instance: undefined, defaultOrgId: undefined };
  const { releases, assumption } = await readReleases(connection, instance.version);
  return {
    ...recognised,
    ...instance,
    releases,
    ...defined({ assumption: assumption?.message }),
    caller: { userId, orgId, roles },
    denied: operations.filter((operation) => !permits(operation)),
    limits: [
      'ZITADEL exports each organisation in a single call of at most 60 s (or --timeout), which is enough for about 80,000 people with password hashes, or 300,000 without',
      `an import is sent in requests of at most ${counted(records, 'record')} and ${counted(bytes, 'byte')}`,
      ...(overlap(stateless, releases)
        ? [`${stateless.text}, and does not export states either; the command reads the states with searches`]
        : []),
    ],
    exportLosses: exportLosses(releases),
    importChanges: importChanges(releases),
  };
}
