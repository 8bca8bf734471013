import { ApiError, alreadyExists, inUse, invalid, unimplemented } from './apiError.ts';
import { type Fields, fieldsOf, listOf, textOf, textsOf, withoutZeros } from './json.ts';
import { type Binding, byId, digest, NUMBER, type Policy, PROJECT, type Project } from './project.ts';
import type { ApiRequest } from './request.ts';
import { done } from './resources.ts';

/** Answers requests for service accounts. */
export function answerAccount(project: Project, { method, path, body }: ApiRequest): Fields {
  if (method === 'POST') return createAccount(project, textOf(body.accountId), fieldsOf(body.serviceAccount));
  const key = `iam/projects/${PROJECT}/serviceAccounts/${path.split('/').at(-1)}`;
  const held = project.held(key);
  if (method === 'GET') return held;
  if (method === 'PATCH') return project.put(key, { ...held, ...fieldsOf(body.serviceAccount) });
  if (method !== 'DELETE') throw unimplemented(`${method} ${key}`);
  project.resources.delete(key);
  return {};
}

function createAccount(project: Project, id: string, given: Fields): Fields {
  if (!/^[a-z][-a-z0-9]{4,28}[a-z0-9]$/.test(id)) throw invalid(`the account id ${id} must have 6 to 30 characters`);
  const email = `${id}@${PROJECT}.iam.gserviceaccount.com`;
  const name = `projects/${PROJECT}/serviceAccounts/${email}`;
  if (project.resources.has(`iam/${name}`)) throw alreadyExists(name);
  const uniqueId = String(project.nextNumber());
  return project.put(`iam/${name}`, { ...given, name, projectId: PROJECT, uniqueId, email, oauth2ClientId: uniqueId });
}

/** Answers a request for the IAM policy of a resource. */
export function answerPolicy(project: Project, key: string, given: Fields | undefined): Fields {
  const held = project.policies.get(key) ?? { version: 1, etag: digest('first'), bindings: [] };
  if (given === undefined) return { ...held };
  if (given.etag !== undefined && given.etag !== held.etag)
    throw new ApiError(409, 'ABORTED', 'there were concurrent policy changes');
  const bindings = listOf(given.bindings).map((binding) => bindingOf(fieldsOf(binding)));
  if (bindings.some(({ condition }) => condition) && given.version !== 3)
    throw invalid('conditions need version 3 of a policy');
  for (const binding of bindings) {
    for (const member of binding.members) checkMember(project, member);
    project.grant(key, binding);
  }
  const { auditConfigs } = fieldsOf(withoutZeros(given));
  const policy: Policy = {
    version: given.version === 3 ? 3 : 1,
    etag: digest([key, project.nextNumber()]),
    bindings: bindings.filter(({ members }) => members.length > 0),
    ...(auditConfigs === undefined ? {} : { auditConfigs: listOf(auditConfigs) }),
  };
  project.policies.set(key, policy);
  return { ...policy };
}

function bindingOf({ role, members, condition }: Fields): Binding {
  const binding = { role: textOf(role), members: textsOf(members) };
  return condition ? { ...binding, condition: fieldsOf(condition) } : binding;
}

/** Accounts of the project must exist. */
function checkMember(project: Project, member: string): void {
  const [, email] = /^serviceAccount:(.+@acme-identity\.iam\.gserviceaccount\.com)$/.exec(member) ?? [];
  if (email !== undefined && !project.resources.has(`iam/projects/${PROJECT}/serviceAccounts/${email}`))
    throw inUse(`${member} does not exist`);
}

/** Answers requests that enable services and list enabled ones. */
export function answerServices(project: Project, { method, path, body }: ApiRequest): Fields {
  const enabled = () => project.enabledServices.map(describe);
  if (method === 'GET' && path.endsWith('/services')) return { services: enabled() };
  if (method === 'GET') return describe((path.split('/').at(-1) ?? '').replace('.googleapis.com', ''));
  const [, single] = /\/services\/([^/:]+):enable$/.exec(path) ?? [];
  if (single === undefined && !path.endsWith('services:batchEnable')) throw unimplemented(`${method} ${path}`);
  for (const service of single === undefined ? textsOf(body.serviceIds) : [single])
    project.enable(service.replace('.googleapis.com', ''));
  return { ...done(`projects/${NUMBER}`, {}), name: `operations/acat.${project.nextNumber()}` };
}

function describe(service: string): Fields {
  const name = `${service}.googleapis.com`;
  return {
    name: `projects/${NUMBER}/services/${name}`,
    parent: `projects/${NUMBER}`,
    config: { name },
    state: 'ENABLED',
  };
}

/** Answers requests for the project itself. */
export function answerProject(path: string): Fields {
  if (byId(path) !== `projects/${PROJECT}`) throw new ApiError(403, 'PERMISSION_DENIED', `no permission on ${path}`);
  return { projectNumber: NUMBER, projectId: PROJECT, lifecycleState: 'ACTIVE', name: PROJECT };
}
