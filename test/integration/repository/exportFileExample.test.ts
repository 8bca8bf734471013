import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { identity, identityJson } from '../../support/command.ts';
import { readDocument } from '../../support/documents/documentation.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

it('the export file of the specification is imported completely, and exported as it is', async () => {
  const { text } = await readDocument('docs/specification.md');
  const [, example = ''] = /^### 2\.7 [\s\S]*?^```json\n([\s\S]*?)^```$/m.exec(text) ?? [];
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const [file, place] = [join(path, 'acme.json'), `sqlite:${join(path, 'target')}`];
  await writeFile(file, example);
  await identityJson(['init', '--data', join(path, 'target')]);

  const { code, stdout, stderr } = await identity(['import', file, '--to', place, '--json']);
  expect(code, stderr).toBe(0);
  const result: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  const { orgs, manifest } = JSON.parse(example);
  const created: unknown = expect.objectContaining({ humanUsers: 1, userMetadata: 1, userGrants: 1 });
  expect(result).toMatchObject({ summary: { created, failed: {}, notCarried: {}, warnings: [], proved: true } });

  const secrets = ['--with', 'passwords,otp'];
  const exported = await identity(['export', place, '--org', 'acme', ...secrets, '--to', '-']);
  expect(JSON.parse(exported.stdout)).toMatchObject({
    orgs,
    manifest: { counts: manifest.counts, digest: manifest.digest },
  });
});
