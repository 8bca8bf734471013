import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultLimits, fixedLimits } from '../../shared/limits.ts';

const root = join(import.meta.dirname, '..');

/** The tests of each limit at its edge: the file, and words of the titles. */
const edges: Readonly<Record<string, readonly [file: string, ...titles: string[]]>> = {
  requestBytes: [
    'tables/bodies.test.ts',
    'usualMaxBytes].map(',
    'that declares too much is rejected before it sends a byte',
  ],
  responseBytes: ['integration/import/limits.test.ts', 'exports to a response of the maximum size, and no larger'],
  timeoutMs: ['integration/import/limits.test.ts', 'rejects a timeout of an %s above the longest'],
  organisations: ['integration/import/limits.test.ts', 'accepts as many %s as it allows', "'organisations',"],
  clearPasswords: ['integration/import/limits.test.ts', 'accepts as many %s as it allows', "'clearPasswords',"],
  dryRunRecords: ['integration/import/limits.test.ts', 'accepts as many %s as it allows', "'dryRunRecords',"],
  fields: [
    'integration/import/limits.test.ts',
    'accepts a request, a file and an organisation of up to 100,000 fields',
  ],
  inflation: ['tables/bodies.test.ts', 'if it inflates a thousandfold by %s to more than 10 MB'],
  whiteSpaceBytes: ['tables/bodies.test.ts', 'before its end if it is white space'],
  nesting: ['unit/json/splitter.test.ts', 'are 100 levels of nesting in a kept or skipped value'],
  concurrentTransfers: ['integration/http/admission.test.ts', 'of a further %s is refused until one has ended'],
  indexedBytes: ['unit/organisation/lengthLimits.test.ts', 'in %s has one of this service', 'is counted in bytes'],
  textBytes: ['unit/organisation/lengthLimits.test.ts', 'in %s has one of this service'],
  listElements: ['unit/organisation/lengthLimits.test.ts', 'in %s has at most 5,000 elements'],
  headersMs: ['integration/http/httpServer.test.ts', 'is answered 408 after %s'],
  headerBytes: ['integration/http/httpServer.test.ts', 'over HTTP/1.1', 'over HTTP/2'],
  keepAliveMs: [
    'integration/http/connections.test.ts',
    'is closed after a while, over HTTP/1',
    'is left alone as long as it has a request',
  ],
  bufferedBytes: ['tables/bodies.test.ts', 'admits as many bytes as it allows'],
  connections: ['integration/http/connections.test.ts', 'keeps those that %s, and closes a new one'],
  streamsPerConnection: ['integration/http/requestsAtOnce.test.ts', 'of HTTP/2 carries no more than'],
  pipelinedRequests: [
    'integration/http/requestsAtOnce.test.ts',
    'of HTTP/1 accepts requests before the earlier responses',
    'of HTTP/1 is closed above',
  ],
  stallMs: ['unit/http/nodeResponse.test.ts', 'is kept until its timeout, and aborted then'],
};

describe('the limits', () => {
  it('each have a test at their edge', () => {
    const names = Object.keys({ ...defaultLimits('cloud'), ...fixedLimits });
    expect(Object.keys(edges).toSorted()).toEqual(names.toSorted());
  });

  it.each(Object.entries(edges))('%s is tested by the listed tests', async (_name, [file, ...titles]) => {
    const text = await readFile(join(root, file), 'utf8');
    for (const title of titles) expect(text).toContain(title);
  });
});
