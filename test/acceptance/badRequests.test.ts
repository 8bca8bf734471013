import { beforeAll, describe, expect, it } from 'vitest';
import { comparable } from '../support/fixtures/comparable.ts';
import { expectError, exportFrom, send } from '../support/http/wire.ts';
import { type BucketAccess, type Deployment, describeDeployment, noBucket } from '../support/instances/deployments.ts';
import type { BadRequest } from './badRequests/badRequest.ts';
import { badBodies } from './badRequests/bodies.ts';
import { badDocuments } from './badRequests/documents.ts';
import { badExports } from './badRequests/exports.ts';
import { badFileRequests } from './badRequests/fileRequests.ts';
import { badImports } from './badRequests/imports.ts';
import { badRoutes } from './badRequests/routes.ts';

const groups = [
  { group: 'bodies', rows: badBodies },
  { group: 'export requests', rows: badExports },
  { group: 'import requests', rows: badImports },
  { group: 'requests whose body is the file', rows: badFileRequests },
  { group: 'documents', rows: badDocuments },
  { group: 'routes', rows: badRoutes },
];

describeDeployment('bad requests', (get) => {
  describe.each(groups)('$group', ({ rows }) => {
    let before: unknown;
    beforeAll(async () => {
      before = await contentOf(get());
    });

    it.for(rows)('refuses $path with $name, and writes nothing', async (row, { skip }) => {
      const { target, bucket } = get();
      const { method = 'POST', path, headers } = row;
      if (bucket === undefined && typeof row.body === 'function') skip(noBucket);
      const body = bodyOf(row, bucket);
      const request = { method, path, token: target.token, ...(body === undefined ? {} : { body }) };
      const answer = await send(target, { ...request, headers: { 'content-type': 'application/json', ...headers } });
      const { message } = expectError(answer, row.status, row.code);
      expect(message).toMatch(row.message);
      expect(message.length).toBeLessThan(500);
      expect(await contentOf(get())).toEqual(before);
    });
  });
});

async function contentOf({ target }: Deployment): Promise<unknown> {
  return comparable((await exportFrom(target)).orgs);
}

function bodyOf({ body }: BadRequest, bucket: BucketAccess | undefined) {
  if (typeof body !== 'function') return body;
  if (bucket === undefined) throw new Error(noBucket);
  return JSON.stringify(body(bucket));
}
