import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { createAuditLog } from '../../../shared/audit/openAudit.ts';

const event = { time: '2026-11-22T04:00:00.000Z', event: 'export.started', outcome: 'started', requestId: 'r1' };
const trace = '0af7651916cd43dd8448eb211c80319c';

it('a line for Cloud Logging has the label of the trail, the request and its trace, and is recorded once the stream accepts it', async () => {
  let take = () => {};
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      take = done;
    },
  });
  let isDurable = false;
  const appended = createAuditLog('acme', stream)
    .append({ ...event, trace })
    .then(() => {
      isDurable = true;
    });
  await Promise.resolve();
  expect(JSON.parse(text)).toEqual({
    ...event,
    severity: 'NOTICE',
    message: 'export.started started',
    'logging.googleapis.com/labels': { log_type: 'audit', execution_id: 'r1' },
    'logging.googleapis.com/trace': `projects/acme/traces/${trace}`,
  });
  expect(text).toMatch(/^[^\n]*\n$/);
  expect(isDurable).toBe(false);
  take();
  await appended;
});

it('a failing stream is an error of the trail', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  stream.on('error', () => undefined);
  await expect(createAuditLog('acme', stream).append(event)).rejects.toMatchObject({
    reason: 'AUDIT_UNWRITABLE',
    httpStatus: 503,
  });
});
