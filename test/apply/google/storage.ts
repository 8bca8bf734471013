import { createHash } from 'node:crypto';
import { ApiError, alreadyExists, unimplemented } from './apiError.ts';
import { type Fields, fieldsOf, isFields, textOf } from './json.ts';
import { checkKeyLocation } from './kinds.ts';
import { digest, NUMBER, now, type Project } from './project.ts';
import type { ApiRequest } from './request.ts';

/** Answers requests for buckets and objects; nothing is the answer to a deletion. */
export function answerStorage(project: Project, request: ApiRequest): Fields | undefined {
  const { method, path, query, body } = request;
  const [, bucket = '', collection, object = ''] = path.split('/').map(decodeURIComponent);
  if (bucket === '') return method === 'POST' ? createBucket(project, body) : unknown(request);
  const key = `storage/b/${bucket}`;
  const held = project.held(key);
  if (collection === 'o')
    return object === '' ? list(project, key, query) : answerObject(project, `${key}/o/${object}`, request);
  if (collection === 'anywhereCaches' && method === 'GET') return { kind: 'storage#anywhereCaches' };
  if (collection !== undefined) return unknown(request);
  if (method === 'GET') return held;
  if (method === 'PATCH' || method === 'PUT')
    return project.put(key, bucketOf(project, withoutNulls({ ...held, ...body }), held));
  if (method !== 'DELETE') return unknown(request);
  if ([...project.resources.keys()].some((other) => other.startsWith(`${key}/o/`)))
    throw new ApiError(409, 'conflict', `the bucket ${bucket} is not empty`);
  project.resources.delete(key);
  return undefined;
}

function unknown({ method, path }: ApiRequest): never {
  throw unimplemented(`${method} ${path}`);
}

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

function createBucket(project: Project, body: Fields): Fields {
  const key = `storage/b/${textOf(body.name)}`;
  if (project.resources.has(key)) throw alreadyExists(textOf(body.name));
  return project.put(key, bucketOf(project, body, {}));
}

function bucketOf(project: Project, given: Fields, before: Fields): Fields {
  const location = textOf(given.location).toUpperCase();
  checkKeyLocation(fieldsOf(given.encryption).defaultKmsKeyName, location.toLowerCase());
  const { uniformBucketLevelAccess, publicAccessPrevention } = fieldsOf(given.iamConfiguration);
  const { retentionDurationSeconds = '604800' } = fieldsOf(given.softDeletePolicy);
  return {
    ...given,
    kind: 'storage#bucket',
    id: given.name,
    selfLink: `https://www.googleapis.com/storage/v1/b/${textOf(given.name)}`,
    projectNumber: NUMBER,
    storageClass: 'STANDARD',
    locationType: 'region',
    location,
    timeCreated: before.timeCreated ?? now(),
    updated: now(),
    metageneration: String(project.nextNumber()),
    iamConfiguration: {
      bucketPolicyOnly: uniformBucketLevelAccess,
      uniformBucketLevelAccess,
      publicAccessPrevention: publicAccessPrevention ?? 'inherited',
    },
    softDeletePolicy: { retentionDurationSeconds: String(retentionDurationSeconds) },
  };
}

function list(project: Project, key: string, query: URLSearchParams): Fields {
  const prefix = `${key}/o/${query.get('prefix') ?? ''}`;
  return {
    kind: 'storage#objects',
    items: [...project.resources].filter(([other]) => other.startsWith(prefix)).map(([, object]) => object),
  };
}

function answerObject(project: Project, key: string, request: ApiRequest): Fields | undefined {
  const held = project.held(key);
  if (request.method === 'GET') return held;
  if (request.method === 'PATCH') return project.put(key, { ...held, ...request.body });
  if (request.method !== 'DELETE') return unknown(request);
  project.resources.delete(key);
  return undefined;
}

/** Answers the upload of an object in one request of two parts: its description, and its content. */
export function answerUpload(project: Project, { path, query, bytes, contentType }: ApiRequest): Fields {
  const [, bucket = ''] = /^b\/([^/]+)\/o$/.exec(path) ?? [];
  project.held(`storage/b/${bucket}`);
  const [, boundary] = /^multipart\/related;.*boundary="?([^";]+)"?/.exec(contentType) ?? [];
  if (boundary === undefined) throw unimplemented(`an upload of ${contentType}`);
  const [description = '', content = ''] = bytes
    .toString('latin1')
    .split(`--${boundary}`)
    .slice(1, -1)
    .map(partContent);
  const given: unknown = JSON.parse(description);
  const name = isFields(given) && given.name !== undefined ? textOf(given.name) : (query.get('name') ?? '');
  const uploaded = Buffer.from(content, 'latin1');
  const generation = String(project.nextNumber());
  return project.put(`storage/b/${bucket}/o/${name}`, {
    ...fieldsOf(given),
    kind: 'storage#object',
    id: `${bucket}/${name}/${generation}`,
    selfLink: `https://www.googleapis.com/storage/v1/b/${bucket}/o/${encodeURIComponent(name)}`,
    mediaLink: `https://storage.googleapis.com/download/storage/v1/b/${bucket}/o/${encodeURIComponent(name)}`,
    name,
    bucket,
    generation,
    metageneration: '1',
    storageClass: 'STANDARD',
    size: String(uploaded.length),
    md5Hash: createHash('md5').update(uploaded).digest('base64'),
    etag: digest(generation),
    timeCreated: now(),
    updated: now(),
  });
}

/** The content of a part of a multipart body, without its header and the line break before the next boundary. */
const partContent = (part: string) => part.slice(part.indexOf('\r\n\r\n') + 4, -2);
