import { randomUUID } from 'node:crypto';
import { ApiError, alreadyExists, invalid, unimplemented } from './apiError.ts';
import { type Fields, fieldsOf, isFields, listOf, textOf, withoutEmpty } from './json.ts';
import { digest, NUMBER, now, PROJECT, type Project } from './project.ts';
import type { ApiRequest } from './request.ts';
import { checkTests } from './urlMap.ts';

const link = (name: string) => `https://www.googleapis.com/compute/v1/${name}`;

/** Fields of a resource that do not refer to another one. */
const ownFields: readonly string[] = ['selfLink', 'id', 'name', 'description', 'region', 'kind', 'users'];

/** What the API adds to a resource of each collection. */
const collections: Readonly<Record<string, (given: Fields, project: Project) => Fields>> = {
  addresses: (given) => ({
    ...given,
    address: given.ipVersion === 'IPV6' ? '2001:db8::1' : '203.0.113.10',
    addressType: 'EXTERNAL',
    status: 'RESERVED',
    networkTier: 'PREMIUM',
  }),
  backendServices(given) {
    // Serverless endpoints have neither; 30 is what the provider repeats.
    if ((given.timeoutSec ?? 30) !== 30) throw invalid('a timeout is not supported with serverless endpoints');
    if (listOf(given.healthChecks).length > 0)
      throw invalid('a health check is not supported with serverless endpoints');
    const backends = listOf(given.backends).map((backend) => ({
      balancingMode: 'UTILIZATION',
      capacityScaler: 1,
      ...fieldsOf(backend),
    }));
    const logConfig = fieldsOf(given.logConfig);
    return {
      sessionAffinity: 'NONE',
      connectionDraining: { drainingTimeoutSec: 0 },
      ...given,
      backends,
      timeoutSec: 30,
      port: 80,
      portName: 'http',
      enableCDN: false,
      logConfig: logConfig.enable ? { optionalMode: 'EXCLUDE_ALL_OPTIONAL', ...logConfig } : { enable: false },
    };
  },
  forwardingRules(given, project) {
    const key = `compute/${relative(textOf(given.IPAddress))}`;
    const { address } = project.resources.get(key) ?? {};
    const port = textOf(given.portRange);
    return {
      IPProtocol: 'TCP',
      ...given,
      IPAddress: address ?? given.IPAddress,
      portRange: port.includes('-') ? port : `${port}-${port}`,
      networkTier: 'PREMIUM',
    };
  },
  networkEndpointGroups: (given) => ({ ...given, size: 0 }),
  securityPolicies(given) {
    const rules = listOf(given.rules).map((rule) => ({
      kind: 'compute#securityPolicyRule',
      preview: false,
      ...fieldsOf(rule),
    }));
    if (!rules.some((rule) => fieldsOf(rule).priority === 2147483647))
      throw invalid('a policy must have a default rule');
    return { type: 'CLOUD_ARMOR', ...given, rules };
  },
  sslPolicies: (given) => ({ ...given, enabledFeatures: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'] }),
  targetHttpsProxies: (given) => ({ quicOverride: 'NONE', tlsEarlyData: 'DISABLED', ...given }),
  urlMaps(given) {
    checkTests(given);
    return given;
  },
};

/** The field that a method of a proxy sets. */
const setters: Readonly<Record<string, string>> = {
  setUrlMap: 'urlMap',
  setSslPolicy: 'sslPolicy',
  setCertificateMap: 'certificateMap',
  setTarget: 'target',
  setSecurityPolicy: 'securityPolicy',
};

/** The parts of a path of the Compute API, such as `projects/P/global/urlMaps/NAME/METHOD`. */
interface Parts {
  readonly collection: string;
  /** The full name of the resource, without the method. */
  readonly name: string;
  readonly isNamed: boolean;
  readonly verb: string | undefined;
  readonly scope: string;
}

function partsOf(path: string): Parts {
  const parts = path.split('/');
  // The provider calls some methods of proxies without "global".
  if (parts[2] === 'targetHttpsProxies') parts.splice(2, 0, 'global');
  const at = parts[2] === 'global' ? 3 : 4;
  return {
    collection: parts[at] ?? '',
    name: parts.slice(0, at + 2).join('/'),
    isNamed: parts.length > at + 1,
    verb: parts[at + 2],
    scope: parts.slice(0, at).join('/'),
  };
}

/** Answers requests of the Compute API. */
export function answerCompute(project: Project, { method, path, query, body }: ApiRequest): Fields {
  if (/^projects\/[^/]+$/.test(path)) return { kind: 'compute#project', id: NUMBER, name: PROJECT };
  const { collection, name, isNamed, verb, scope } = partsOf(path);
  if (collection === 'operations') return operation(scope, name.split('/').at(-1) ?? '');
  if (!isNamed) {
    if (method !== 'POST') throw unimplemented(`${method} ${path}`);
    return create(project, collection, scope, body);
  }
  const held = project.held(`compute/${name}`);
  if (method === 'GET') return held;
  if (method === 'DELETE') {
    checkUnused(project, name, held);
    project.resources.delete(`compute/${name}`);
  } else if (verb === undefined) {
    if (body.fingerprint !== undefined && body.fingerprint !== held.fingerprint)
      throw new ApiError(412, 'CONDITION_NOT_MET', 'invalid fingerprint');
    fill(project, { collection, name, scope }, method === 'PUT' ? body : { ...held, ...body }, held);
  } else {
    fill(project, { collection, name, scope }, { ...held, ...changeBy(verb, held, query, body) }, held);
  }
  return operation(scope);
}

function create(project: Project, collection: string, scope: string, body: Fields): Fields {
  const name = `${scope}/${collection}/${textOf(body.name)}`;
  if (project.resources.has(`compute/${name}`)) throw alreadyExists(name);
  fill(project, { collection, name, scope }, body, {});
  return operation(scope);
}

function fill(
  project: Project,
  { collection, name, scope }: Omit<Parts, 'isNamed' | 'verb'>,
  given: Fields,
  before: Fields,
): void {
  const complete = collections[collection];
  if (complete === undefined) throw unimplemented(`the collection ${collection}`);
  for (const other of references(given)) project.held(`compute/${other}`);
  const map = textOf(given.certificateMap).replace('//certificatemanager.googleapis.com/', 'certificatemanager/');
  if (map !== '') project.held(map);
  const { id, creationTimestamp } = before;
  const value = complete(fieldsOf(withLinks(withoutEmpty(given))), project);
  const region = scope.includes('/regions/') ? { region: link(scope) } : {};
  const fingerprint = digest(project.nextNumber());
  project.put(`compute/${name}`, {
    ...value,
    ...region,
    fingerprint,
    labelFingerprint: digest(value.labels ?? {}),
    kind: `compute#${collection}`,
    id: id ?? String(project.nextNumber()),
    creationTimestamp: creationTimestamp ?? now(),
    selfLink: link(name),
  });
}

function changeBy(verb: string, held: Fields, query: URLSearchParams, body: Fields): Fields {
  const field = setters[verb];
  if (field !== undefined) return { [field]: body[field] ?? Object.values(body)[0] };
  if (verb === 'setLabels') return { labels: body.labels };
  const others = listOf(held.rules).filter((rule) => String(fieldsOf(rule).priority) !== query.get('priority'));
  const rule = listOf(held.rules).find((other) => !others.includes(other));
  if (verb === 'patchRule') return { rules: [...others, { ...fieldsOf(rule), ...body }] };
  if (verb === 'addRule') return { rules: [...listOf(held.rules), body] };
  if (verb === 'removeRule') return { rules: others };
  throw unimplemented(`the method ${verb}`);
}

function operation(scope: string, id = `operation-${randomUUID()}`): Fields {
  return {
    kind: 'compute#operation',
    id: '1',
    name: id,
    status: 'DONE',
    progress: 100,
    selfLink: link(`${scope}/operations/${id}`),
    ...(scope.includes('/regions/') ? { region: link(scope) } : {}),
  };
}

const relative = (value: string) => value.replace(/^.*?projects\//, 'projects/');
const isName = (value: string) => /^(.*\/compute\/v1\/)?projects\/[^/]+\/(global|regions)\//.test(value);

/** The full names of the resources that a value refers to. */
function references(value: unknown): readonly string[] {
  if (typeof value === 'string') return isName(value) ? [relative(value)] : [];
  if (Array.isArray(value)) return value.flatMap(references);
  return Object.entries(fieldsOf(value)).flatMap(([field, part]) =>
    ownFields.includes(field) ? [] : references(part),
  );
}

/** Replaces the names of resources by their links, as the API returns them. */
function withLinks(value: unknown): unknown {
  if (typeof value === 'string') return isName(value) ? link(relative(value)) : value;
  if (Array.isArray(value)) return value.map(withLinks);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, part]) => [field, ownFields.includes(field) ? part : withLinks(part)]),
  );
}

function checkUnused(project: Project, name: string, { address }: Fields): void {
  const user = [...project.resources].find(([key, resource]) => {
    if (!key.startsWith(`compute/projects/${PROJECT}/`) || key === `compute/${name}`) return false;
    return references(resource).includes(name) || (address !== undefined && resource.IPAddress === address);
  });
  if (user !== undefined) throw new ApiError(400, 'resourceInUseByAnotherResource', `${name} is used by ${user[0]}`);
}
