import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, run } from '../../tools/program.ts';
import { startFakeGcsServer, whyNoFakeGcsServer } from '../large/fakeGcsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { readTerraform } from './terraformFiles.ts';
import { whyNoTerraform } from './whyNoTerraform.ts';

const reason = whyNoTerraform() ?? (await whyNoFakeGcsServer());

it.skipIf(reason !== undefined)('the documented command removes the lock of an apply that was killed', async () => {
  const [backend = ''] = /^ {2}backend "gcs" \{[\s\S]*?^ {2}\}$/m.exec(await readTerraform('versions.tf')) ?? [];
  const manual = await readFile(join(root, 'docs/operations-google-cloud.md'), 'utf8');
  expect(manual).toContain('`terraform -chdir=terraform force-unlock ID`');
  const directory = await temporaryDirectory();
  const bucket = await startFakeGcsServer('acme-identity-terraform');
  const env = {
    GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT: `${bucket.url}/storage/v1/`,
    GOOGLE_OAUTH_ACCESS_TOKEN: 'none',
    CHECKPOINT_DISABLE: '1',
  };
  const terraform = (...args: readonly string[]) => run('terraform', [`-chdir=${directory.path}`, ...args], { env });
  const writeResource = (body: string) =>
    writeFile(
      join(directory.path, 'main.tf'),
      `terraform {\n${backend}\n}\nresource "terraform_data" "this" {${body}}\n`,
    );
  try {
    await writeResource('\n  provisioner "local-exec" {\n    command = "kill -9 $PPID"\n  }\n');
    const { code, stderr } = await terraform('init', '-no-color', '-backend-config=bucket=acme-identity-terraform');
    expect(code, stderr).toBe(0);
    expect(await terraform('apply', '-auto-approve')).toMatchObject({ code: null });
    await writeResource('');
    const locked = await terraform('plan', '-no-color');
    expect(locked.stderr).toContain('Error acquiring the state lock');
    const [, id = ''] = /ID: +(\d+)/.exec(locked.stderr) ?? [];
    expect(await terraform('force-unlock', '-force', id)).toMatchObject({ code: 0 });
    expect(await terraform('plan', '-no-color')).toMatchObject({ code: 0 });
  } finally {
    await bucket.close();
    await directory.remove();
  }
});
