import { randomUUID } from 'node:crypto';
import { alreadyExists, notFound, unimplemented } from './apiError.ts';
import { type Fields, fieldsOf, updated, withoutZeros } from './json.ts';
import { type Kind, kindOf } from './kinds.ts';
import { byId, type Project } from './project.ts';
import type { ApiRequest } from './request.ts';

/** Answers create, get, patch and delete of the kinds in `kinds.ts`. */
export function answerResource(project: Project, request: ApiRequest): Fields {
  const { service, method } = request;
  const path = byId(request.path);
  const key = `${service}/${path}`;
  if (method === 'POST') return create(project, { ...request, path });
  const kind = kindOf(key);
  if (kind === undefined) return list(project, key, request);
  if (method === 'GET') return kind.existsAlways && !project.resources.has(key) ? { name: path } : project.held(key);
  if (method === 'PATCH' || method === 'PUT') return change(project, kind, { ...request, path });
  if (method === 'DELETE') return remove(project, kind, { ...request, path });
  throw unimplemented(`${method} ${key}`);
}

function create(project: Project, { service, path, query, body }: ApiRequest): Fields {
  const [, parameter] = [...query].find(([name]) => /(_id|Id)$/.test(name) && name !== 'requestId') ?? [];
  const { newId } = kindOf(`${service}/${path}/-`) ?? {};
  const name = `${path}/${parameter ?? newId?.(project, body)}`;
  const kind = kindOf(`${service}/${name}`);
  if (kind === undefined) throw unimplemented(`creation of ${service}/${name}`);
  if (project.resources.has(`${service}/${name}`)) throw alreadyExists(name);
  return put(project, kind, `${service}/${name}`, body, {});
}

function change(project: Project, kind: Kind, { service, path, query, body }: ApiRequest): Fields {
  const key = `${service}/${path}`;
  const before = kind.existsAlways ? (project.resources.get(key) ?? {}) : project.held(key);
  // Firebase Rules wraps a release; a dashboard is replaced as a whole.
  const given = fieldsOf(body.release ?? body);
  const changed = path.includes('/dashboards/') ? given : updated(before, given, query.get('updateMask') ?? undefined);
  return put(project, kind, key, changed, before);
}

function put(project: Project, kind: Kind, key: string, given: Fields, before: Fields): Fields {
  const name = key.slice(key.indexOf('/') + 1);
  const filled = fieldsOf(withoutZeros(kind.fill(given, { project, name, before })));
  project.put(key, filled);
  return kind.operation ? done(name, filled) : filled;
}

function remove(project: Project, kind: Kind, { service, path }: ApiRequest): Fields {
  const key = `${service}/${path}`;
  project.held(key);
  kind.checkUnused?.(project, path);
  project.resources.delete(key);
  project.policies.delete(key);
  if (service === 'cloudfunctions') {
    const run = `run/${path.replace('/functions/', '/services/')}`;
    project.resources.delete(run);
    project.policies.delete(run);
  }
  return kind.operation ? done(path, {}) : {};
}

function list(project: Project, key: string, { method, path }: ApiRequest): Fields {
  const collection = path.split('/').at(-1) ?? '';
  if (method !== 'GET' || kindOf(`${key}/-`) === undefined) throw notFound(path);
  const members = [...project.resources].filter(([other]) => other.startsWith(`${key}/`));
  return { [collection]: members.map(([, resource]) => resource) };
}

/** Returns an operation that has ended. */
export function done(name: string, response: Fields): Fields {
  const parent = name
    .split('/')
    .slice(0, name.includes('/locations/') ? 4 : 2)
    .join('/');
  return {
    name: `${parent}/operations/${randomUUID()}`,
    metadata: { '@type': 'type.googleapis.com/google.protobuf.Struct', target: name },
    done: true,
    response: { '@type': 'type.googleapis.com/google.protobuf.Struct', ...response },
  };
}
