import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../../shared/http/app.ts';
import { configureLog, log } from '../../../shared/log.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const project = 'acme-identity';
const field = 'logging.googleapis.com/trace';

const app = createApp({
  routes: [
    { method: 'GET', path: '/works', handler: () => new Response('') },
    {
      method: 'GET',
      path: '/fails',
      handler: () => {
        throw new Error('lost');
      },
    },
  ],
});

/** The lines that `work` logs, in a process of the project or of none. */
async function logged(work: () => unknown, project?: string): Promise<unknown[]> {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  configureLog('info', stream, project);
  await work();
  return text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

describe("a request's log lines", () => {
  it.each<Readonly<Record<string, string>>>([
    { traceparent: `00-${trace}-b7ad6b7169203331-01` },
    { 'x-cloud-trace-context': `${trace}/1;o=1` },
  ])('name the trace of %j in the form of Cloud Logging', async (headers) => {
    const lines = await logged(() => app.request('/works', { headers }), project);
    expect(lines).toMatchObject([{ message: 'request finished', [field]: `projects/acme-identity/traces/${trace}` }]);
  });

  it('name it beside the stack of an internal error too', async () => {
    const lines = await logged(() => app.request('/fails', { headers: { 'x-cloud-trace-context': trace } }), project);
    expect(lines).toMatchObject([
      { message: 'request failed', [field]: `projects/acme-identity/traces/${trace}` },
      { message: 'request finished', [field]: `projects/acme-identity/traces/${trace}` },
    ]);
  });

  it('name it where a response breaks off', async () => {
    const lines = await logged(() => log.responseBroken(new Error('lost'), 'r', trace), project);
    expect(lines).toMatchObject([{ message: 'response aborted', [field]: `projects/acme-identity/traces/${trace}` }]);
  });

  it.each([
    ['without the header', {}],
    ['with a malformed one', { traceparent: `00-${trace}` }],
  ])('name none for a request %s', async (_, headers) => {
    const [line] = await logged(() => app.request('/works', { headers }), project);
    expect(line).not.toHaveProperty([field]);
  });

  it('name none in a process without a project, and never the bare id', async () => {
    const lines = await logged(() => app.request('/fails', { headers: { 'x-cloud-trace-context': trace } }));
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain(trace);
  });
});
