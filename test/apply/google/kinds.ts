import { randomUUID } from 'node:crypto';
import { alreadyExists, inUse, invalid } from './apiError.ts';
import { type Fields, fieldsOf, isFields, listOf, textOf, textsOf } from './json.ts';
import { byId, byNumber, digest, NUMBER, now, PROJECT, type Project } from './project.ts';

/** A kind of resource with the usual methods: create, get, patch, delete. README.md has the source of each rule. */
export interface Kind {
  /** Matches the keys of the kind: the service and the full name. */
  readonly keys: RegExp;
  /** Whether a change is answered by an operation. */
  readonly operation?: boolean;
  /** Whether every resource of the kind exists without having been created. */
  readonly existsAlways?: boolean;
  /** The id of a created resource, where the request does not have it in a parameter. */
  readonly newId?: (project: Project, given: Fields) => string;
  /** Returns a resource as the service holds it; throws what the service rejects. */
  readonly fill: (given: Fields, resource: Filled) => Fields;
  /** Throws if the resource cannot be deleted. */
  readonly checkUnused?: (project: Project, name: string) => void;
}

/** A resource that is created or changed. */
interface Filled {
  readonly project: Project;
  readonly name: string;
  /** The resource before the change; empty if it is created. */
  readonly before: Fields;
}

const numbered = (project: Project) => String(project.nextNumber());
const times = ({ createTime }: Fields) => ({ createTime: createTime ?? now(), updateTime: now() });

const multiRegions: Readonly<Record<string, string>> = { eur3: 'europe', nam5: 'us', nam7: 'us' };

/** Throws if a key cannot encrypt resources of a location. */
export function checkKeyLocation(key: unknown, location: string): void {
  const wanted = multiRegions[location] ?? location.toLowerCase();
  const place = textOf(key).split('/')[3] ?? wanted;
  if (place !== wanted) throw invalid(`the key ${textOf(key)} is in ${place}, not in ${wanted}`);
}

const segment = (name: string, index: number) => name.split('/')[index] ?? '';
const databaseOf = (name: string) => name.split('/').slice(0, 4).join('/');

function resourcesOf(project: Project, prefix: string): readonly [key: string, resource: Fields][] {
  return [...project.resources].filter(([key]) => key.startsWith(prefix));
}

/** Versions of secrets, by their metadata. Their contents, under the method `access`, belong to no kind. */
const secretManager: readonly Kind[] = [
  { keys: /^secretmanager\/.*\/secrets\/[^/]+\/versions\/\d+$/, fill: (given) => given },
];

const firestore: readonly Kind[] = [
  {
    keys: /^firestore\/projects\/[^/]+\/databases\/[^/]+$/,
    operation: true,
    fill(given, { name, before }) {
      const { kmsKeyName } = fieldsOf(given.cmekConfig);
      checkKeyLocation(kmsKeyName, textOf(given.locationId));
      const cmekConfig = kmsKeyName
        ? { cmekConfig: { kmsKeyName, activeKeyVersion: [`${textOf(kmsKeyName)}/cryptoKeyVersions/1`] } }
        : {};
      return {
        ...given,
        ...cmekConfig,
        ...times(before),
        name,
        uid: before.uid ?? randomUUID(),
        etag: digest(now()),
        databaseEdition: 'STANDARD',
      };
    },
    checkUnused(project, name) {
      const { deleteProtectionState } = project.held(`firestore/${name}`);
      if (deleteProtectionState === 'DELETE_PROTECTION_ENABLED') throw inUse(`${name} has delete protection`);
    },
  },
  {
    keys: /^firestore\/.*\/fields\/[^/]+$/,
    operation: true,
    existsAlways: true,
    fill(given, { project, name }) {
      project.held(`firestore/${databaseOf(name)}`);
      const indexConfig = fieldsOf(given.indexConfig);
      const indexes = listOf(indexConfig.indexes).map((index) => ({
        queryScope: 'COLLECTION',
        ...fieldsOf(index),
        state: 'READY',
        fields: listOf(fieldsOf(index).fields).map((field) => ({
          fieldPath: name.split('/').at(-1),
          ...fieldsOf(field),
        })),
      }));
      return { ...given, name, indexConfig: { ...indexConfig, indexes } };
    },
  },
  {
    keys: /^firestore\/.*\/backupSchedules\/[^/]+$/,
    newId: () => randomUUID(),
    fill(given, { project, name, before }) {
      project.held(`firestore/${databaseOf(name)}`);
      const others = resourcesOf(project, `firestore/${databaseOf(name)}/backupSchedules/`);
      if (others.some(([key, { dailyRecurrence }]) => key !== `firestore/${name}` && dailyRecurrence))
        throw alreadyExists(`a daily backup schedule of ${databaseOf(name)}`);
      return { ...given, ...times(before), name };
    },
  },
];

const firebaseRules: readonly Kind[] = [
  {
    keys: /^firebaserules\/.*\/rulesets\/[^/]+$/,
    newId: () => randomUUID(),
    fill: (given, { name, before }) => ({
      ...given,
      createTime: times(before).createTime,
      name,
      metadata: { services: ['cloud.firestore'] },
    }),
    checkUnused(project, name) {
      const releases = resourcesOf(project, 'firebaserules/').filter(([, { rulesetName }]) => rulesetName === name);
      if (releases.length > 0) throw inUse(`${name} is released`);
    },
  },
  {
    keys: /^firebaserules\/[^/]+\/[^/]+\/releases\/.+$/,
    newId: (_, { name }) => textOf(name).split('/releases/')[1] ?? '',
    fill(given, { project, name, before }) {
      project.held(`firebaserules/${textOf(given.rulesetName)}`);
      return { ...given, ...times(before), name };
    },
  },
];

const serving: readonly Kind[] = [
  {
    keys: /^artifactregistry\/.*\/repositories\/[^/]+$/,
    operation: true,
    fill(given, { name, before }) {
      checkKeyLocation(given.kmsKeyName, segment(name, 3));
      const policies = Object.entries(fieldsOf(given.cleanupPolicies)).map(([id, policy]) => [
        id,
        withTagState(fieldsOf(policy)),
      ]);
      return {
        mode: 'STANDARD_REPOSITORY',
        ...given,
        ...times(before),
        name,
        cleanupPolicies: Object.fromEntries(policies),
      };
    },
  },
  {
    keys: /^cloudfunctions\/.*\/functions\/[^/]+$/,
    operation: true,
    fill(given, { project, name, before }) {
      const [build, service] = [fieldsOf(given.buildConfig), fieldsOf(given.serviceConfig)];
      const source = fieldsOf(fieldsOf(build.source).storageSource);
      const archive = project.held(`storage/b/${textOf(source.bucket)}/o/${textOf(source.object)}`);
      project.held(`artifactregistry/${byId(textOf(build.dockerRepository))}`);
      project.held(`iam/projects/${PROJECT}/serviceAccounts/${textOf(service.serviceAccountEmail)}`);
      checkKeyLocation(given.kmsKeyName, segment(name, 3));
      checkSecrets(project, service);
      checkBuild(project, build, textOf(source.bucket), {
        region: segment(name, 3),
        hasKey: Boolean(given.kmsKeyName),
      });
      // Without the check of invokers being disabled: whether an update keeps that is not known.
      const serviceName = name.replace('/functions/', '/services/');
      project.put(`run/${serviceName}`, { name: serviceName });
      const storageSource = { ...source, generation: archive.generation };
      return {
        ...given,
        ...times(before),
        name,
        state: 'ACTIVE',
        environment: 'GEN_2',
        url: `https://${segment(name, 3)}-${PROJECT}.cloudfunctions.net/${segment(name, 5)}`,
        buildConfig: {
          ...build,
          source: { storageSource },
          sourceProvenance: { resolvedStorageSource: storageSource },
          dockerRegistry: 'ARTIFACT_REGISTRY',
          build: `projects/${NUMBER}/locations/${segment(name, 3)}/builds/${randomUUID()}`,
        },
        serviceConfig: {
          ...service,
          service: serviceName,
          uri: `https://${segment(name, 5)}-abcdef.a.run.app`,
          revision: `${segment(name, 5)}-${project.nextNumber()}-abc`,
          environmentVariables: { LOG_EXECUTION_ID: 'true', ...fieldsOf(service.environmentVariables) },
        },
      };
    },
  },
];

function withTagState(policy: Fields): Fields {
  return isFields(policy.condition) ? { ...policy, condition: { tagState: 'ANY', ...policy.condition } } : policy;
}

function checkSecrets(project: Project, service: Fields): void {
  const member = `serviceAccount:${textOf(service.serviceAccountEmail)}`;
  for (const variable of listOf(service.secretEnvironmentVariables).map(fieldsOf)) {
    const secret = `secretmanager/projects/${PROJECT}/secrets/${textOf(variable.secret)}`;
    project.held(`${secret}/versions/${textOf(variable.version)}`);
    project.checkRole(member, 'roles/secretmanager.secretAccessor', [secret]);
  }
}

function checkBuild(
  project: Project,
  build: Fields,
  bucket: string,
  { region, hasKey }: { region: string; hasKey: boolean },
) {
  const builder = `serviceAccount:${textOf(build.serviceAccount).split('/').at(-1)}`;
  const ofProject = `cloudresourcemanager/projects/${PROJECT}`;
  const copies = `projects/_/buckets/gcf-v2-sources-${NUMBER}-${region}${hasKey ? '-0a1b2c' : ''}/objects/source.zip`;
  project.checkRole(builder, 'roles/logging.logWriter', [ofProject]);
  project.checkRole(builder, 'roles/artifactregistry.writer', [
    `artifactregistry/${byId(textOf(build.dockerRepository))}`,
  ]);
  project.checkRole(builder, 'roles/storage.objectViewer', [`storage/b/${bucket}`]);
  project.checkRole(builder, 'roles/storage.objectViewer', [ofProject], copies);
}

/** The services of functions, which only functions create and change. */
const cloudRun: readonly Kind[] = [{ keys: /^run\/.*\/services\/[^/]+$/, fill: (given) => given }];

/** Throws if another resource of Certificate Manager refers to one, or is below it. */
function checkUnreferred(project: Project, name: string): void {
  const user = resourcesOf(project, 'certificatemanager/').find(([key, resource]) => {
    if (key === `certificatemanager/${name}`) return false;
    const text = JSON.stringify(resource);
    return (
      key.startsWith(`certificatemanager/${name}/`) || text.includes(`${name}"`) || text.includes(`${byNumber(name)}"`)
    );
  });
  const proxy = [...project.resources.values()].find(({ certificateMap }) =>
    textOf(certificateMap).endsWith(`/${name}`),
  );
  if (user !== undefined || proxy !== undefined)
    throw inUse(`${name} is in use by ${user?.[0] ?? textOf(proxy?.name)}`);
}

const certificates: readonly Kind[] = [
  {
    keys: /^certificatemanager\/.*\/dnsAuthorizations\/[^/]+$/,
    operation: true,
    checkUnused: checkUnreferred,
    fill: (given, { name, before }) => ({
      ...given,
      ...times(before),
      name,
      dnsResourceRecord: {
        name: `_acme-challenge_${digest(given.domain)
          .toLowerCase()
          .replace(/[^a-z0-9]/g, '')}.${textOf(given.domain)}.`,
        type: 'CNAME',
        data: `${digest(name)}.1.authorize.certificatemanager.goog.`,
      },
    }),
  },
  {
    keys: /^certificatemanager\/.*\/certificates\/[^/]+$/,
    operation: true,
    checkUnused: checkUnreferred,
    fill(given, { project, name, before }) {
      const managed = fieldsOf(given.managed);
      for (const authorization of textsOf(managed.dnsAuthorizations))
        project.held(`certificatemanager/${byId(authorization)}`);
      return {
        ...given,
        ...times(before),
        name,
        sanDnsnames: managed.domains,
        managed: {
          ...managed,
          state: 'PROVISIONING',
          dnsAuthorizations: textsOf(managed.dnsAuthorizations).map(byNumber),
        },
      };
    },
  },
  {
    keys: /^certificatemanager\/.*\/certificateMaps\/[^/]+$/,
    operation: true,
    checkUnused: checkUnreferred,
    fill: (given, { name, before }) => ({ ...given, ...times(before), name }),
  },
  {
    keys: /^certificatemanager\/.*\/certificateMapEntries\/[^/]+$/,
    operation: true,
    fill(given, { project, name, before }) {
      project.held(`certificatemanager/${name.split('/').slice(0, 6).join('/')}`);
      for (const certificate of textsOf(given.certificates)) project.held(`certificatemanager/${byId(certificate)}`);
      const others = resourcesOf(project, 'certificatemanager/').filter(
        ([key]) => key !== `certificatemanager/${name}`,
      );
      if (others.some(([, { hostname }]) => hostname !== undefined && hostname === given.hostname))
        throw alreadyExists(`an entry of ${textOf(given.hostname)}`);
      return {
        ...given,
        ...times(before),
        name,
        state: 'ACTIVE',
        certificates: textsOf(given.certificates).map(byNumber),
      };
    },
  },
];

const logging: readonly Kind[] = [
  {
    keys: /^logging\/.*\/buckets\/[^/]+$/,
    fill: (given, { name, before }) => ({ ...given, ...times(before), name, lifecycleState: 'ACTIVE' }),
  },
  {
    keys: /^logging\/.*\/sinks\/[^/]+$/,
    newId: (_, { name }) => textOf(name).split('/').at(-1) ?? '',
    fill(given, { project, name, before }) {
      project.held(`logging/${textOf(given.destination).replace('logging.googleapis.com/', '')}`);
      return { ...given, ...times(before), name: name.split('/').at(-1), resourceName: name };
    },
  },
];

function policyUsing(project: Project, text: string): string | undefined {
  return resourcesOf(project, `monitoring/projects/${PROJECT}/alertPolicies/`).find(([, policy]) =>
    JSON.stringify(policy).includes(text),
  )?.[0];
}

const monitoring: readonly Kind[] = [
  {
    keys: /^monitoring\/.*\/alertPolicies\/[^/]+$/,
    newId: numbered,
    fill(given, { project, name }) {
      for (const channel of textsOf(given.notificationChannels)) project.held(`monitoring/${channel}`);
      for (const [, checks = ''] of JSON.stringify(given.conditions).matchAll(/check_id = one_of\(([^)]*)\)/g)) {
        for (const [, check] of checks.matchAll(/\\"([^"\\]+)\\"/g))
          project.held(`monitoring/projects/${PROJECT}/uptimeCheckConfigs/${check}`);
      }
      const conditions = listOf(given.conditions).map((condition) => ({
        name: `${name}/conditions/${project.nextNumber()}`,
        ...fieldsOf(condition),
      }));
      return {
        ...given,
        name,
        enabled: true,
        conditions,
        documentation: { mimeType: 'text/markdown', ...fieldsOf(given.documentation) },
        creationRecord: { mutateTime: now() },
      };
    },
  },
  {
    keys: /^monitoring\/.*\/notificationChannels\/[^/]+$/,
    newId: numbered,
    fill: (given, { name }) => ({ ...given, name, enabled: true }),
    checkUnused(project, name) {
      const user = policyUsing(project, name);
      if (user !== undefined) throw inUse(`${name} is used by ${user}`);
    },
  },
  {
    keys: /^monitoring\/.*\/uptimeCheckConfigs\/[^/]+$/,
    newId: (project) => `check-${project.nextNumber()}`,
    fill: (given, { name }) => ({ ...given, name, checkerType: 'STATIC_IP_CHECKERS' }),
    checkUnused(project, name) {
      const user = policyUsing(project, name.split('/').at(-1) ?? '');
      if (user !== undefined) throw inUse(`${name} is used by ${user}`);
    },
  },
  {
    keys: /^monitoring\/.*\/dashboards\/[^/]+$/,
    newId: () => randomUUID(),
    fill: (given, { project, name }) => ({ ...given, name: byNumber(name), etag: digest(project.nextNumber()) }),
  },
];

const billingBudgets: readonly Kind[] = [
  {
    keys: /^billingbudgets\/billingAccounts\/[^/]+\/budgets\/[^/]+$/,
    newId: () => randomUUID(),
    fill(given, { project, name }) {
      const { specifiedAmount } = fieldsOf(given.amount);
      const { monitoringNotificationChannels } = fieldsOf(given.notificationsRule);
      for (const channel of textsOf(monitoringNotificationChannels)) project.held(`monitoring/${channel}`);
      return {
        ...given,
        name,
        etag: digest(now()),
        budgetFilter: {
          ...fieldsOf(given.budgetFilter),
          creditTypesTreatment: 'INCLUDE_ALL_CREDITS',
          calendarPeriod: 'MONTH',
        },
        amount: { specifiedAmount: { currencyCode: 'EUR', ...fieldsOf(specifiedAmount) } },
        thresholdRules: listOf(given.thresholdRules).map((rule) => ({
          spendBasis: 'CURRENT_SPEND',
          ...fieldsOf(rule),
        })),
      };
    },
  },
];

const kinds: readonly Kind[] = [
  ...cloudRun,
  ...secretManager,
  ...firestore,
  ...firebaseRules,
  ...serving,
  ...certificates,
  ...logging,
  ...monitoring,
  ...billingBudgets,
];

/** Returns the kind of a key. */
export const kindOf = (key: string): Kind | undefined => kinds.find(({ keys }) => keys.test(key));
