import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serve } from '../../../shared/http/server.ts';
import { run } from '../../../tools/program.ts';
import { digest } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { transferInstance } from '../../support/instances/transferInstance.ts';
import { type MemoryTransfers, memoryTransfers } from '../../support/memoryTransfers.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

/** The request of a client, as it is documented: the address, the token and the body. */
interface ExportCall {
  readonly url: string;
  readonly token: string;
  readonly body: string;
  /** A directory for programs. */
  readonly directory: string;
}

const curl = async ({ url, token, body }: ExportCall) => {
  const { code, stdout, stderr } = await run('curl', [
    '-sSfL',
    url,
    '-H',
    `Authorization: Bearer ${token}`,
    '-d',
    body,
  ]);
  expect(code, stderr).toBe(0);
  return stdout;
};

const nodeFetch = async ({ url, token, body }: ExportCall) => {
  const response = await fetch(url, { method: 'POST', body, headers: { authorization: `Bearer ${token}` } });
  return await response.text();
};

const requests = `import sys, requests
url, token, body = sys.argv[1:]
response = requests.post(url, data=body, headers={'Authorization': 'Bearer ' + token})
response.raise_for_status()
sys.stdout.write(response.text)
`;

const urllib = `import sys, urllib.error, urllib.request
url, token, body = sys.argv[1:]
class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None
request = urllib.request.Request(url, body.encode(), {'Authorization': 'Bearer ' + token})
try:
    response = urllib.request.build_opener(NoRedirect).open(request)
except urllib.error.HTTPError as redirection:
    response = urllib.request.urlopen(redirection.headers['location'])
sys.stdout.write(response.read().decode())
`;

const goClient = `package main

import ("io"; "net/http"; "os"; "strings")

func main() {
	request, err := http.NewRequest("POST", os.Args[1], strings.NewReader(os.Args[3]))
	if err != nil { panic(err) }
	request.Header.Set("Authorization", "Bearer " + os.Args[2])
	response, err := http.DefaultClient.Do(request)
	if err != nil { panic(err) }
	if response.StatusCode != 200 { panic(response.Status) }
	io.Copy(os.Stdout, response.Body)
}
`;

/** Runs a program in a file, which the program of its language runs. */
const scripted =
  (program: string, name: string, script: string, ...args: readonly string[]) =>
  async ({ url, token, body, directory }: ExportCall) => {
    const file = join(directory, name);
    await writeFile(file, script);
    const { code, stdout, stderr } = await run(program, [...args, file, url, token, body]);
    expect(code, stderr).toBe(0);
    return stdout;
  };

const clients = [
  { name: 'curl -L -d', program: 'curl', version: ['--version'], call: curl },
  { name: "Node's fetch", program: process.execPath, version: ['--version'], call: nodeFetch },
  {
    name: "Python's requests",
    program: 'python3',
    version: ['-c', 'import requests'],
    call: scripted('python3', 'client.py', requests),
  },
  {
    name: "Python's urllib without following",
    program: 'python3',
    version: ['--version'],
    call: scripted('python3', 'client.py', urllib),
  },
  { name: "Go's net/http", program: 'go', version: ['version'], call: scripted('go', 'client.go', goClient, 'run') },
];

describe.each(clients)('$name', ({ program, version, call }) => {
  const seen: { readonly method: string | undefined; readonly headers: IncomingHttpHeaders }[] = [];
  const resources = new AsyncDisposableStack();
  let transfers: MemoryTransfers;
  let origin = '';

  beforeEach(async ({ skip }) => {
    const { code } = await run(program, version).catch(() => ({ code: 1 }));
    if (code !== 0) skip(`${program} ${version.join(' ')} fails here`);
    transfers = memoryTransfers();
    const bucket = createServer(({ method, headers, url = '' }, response) => {
      seen.push({ method, headers });
      response.end(transfers.download(`https://transfers.test${url}`));
    });
    await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve));
    resources.defer(() => void bucket.close());
    const address = bucket.address();
    if (address === null || typeof address === 'string') throw new Error('the bucket has no port');
    // Another host than the instance's, which is 127.0.0.1.
    origin = `http://localhost:${address.port}`;
  });
  afterEach(() => resources.disposeAsync());

  it('follows the redirection of an export to the whole file, and does not send the token there', async () => {
    const downloadUrl = async (...object: Parameters<typeof transfers.downloadUrl>) =>
      (await transfers.downloadUrl(...object)).replace('https://transfers.test', origin);
    const limits = { responseBytes: 50_000 };
    const { app, orgId, token, ...instance } = await transferInstance(undefined, {
      limits,
      transfers: { ...transfers, downloadUrl },
    });
    const humanUsers = Array.from({ length: 300 }, (_, number) => person(`Ångström ${number}`));
    await instance.import({ data_orgs: { orgs: [organisation('acme', { humanUsers })] } });
    const server = await serve({ app, host: '127.0.0.1', port: 0 });
    resources.defer(async () => void (await server.close()));
    const directory = await temporaryDirectory();
    resources.defer(() => directory.remove());
    const body = JSON.stringify({ excluded_org_ids: [orgId], response_output: true });
    const url = `${server.url}/admin/v1/export`;
    const file = await call({ url, token, body, directory: directory.path });
    const [stored] = transfers.objects.values();
    expect(stored?.bytes.length).toBeGreaterThan(limits.responseBytes);
    expect(digest(Buffer.from(file))).toBe(digest(stored?.bytes ?? Buffer.of()));
    expect(seen.map(({ method }) => method)).toEqual(['GET']);
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
  });
});
