import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../tools/program.ts';
import { copyConfiguration } from '../terraform/configurationCopy.ts';

describe('with the real provider, `terraform test`', () => {
  it.each(['.', 'modules/edge'])('passes in terraform/%s', async (module) => {
    await using copy = await copyConfiguration();
    const directory = join(copy.directory, module);
    const init = await run('terraform', [`-chdir=${directory}`, 'init', '-no-color', '-input=false', '-backend=false']);
    expect(init.code, init.stderr).toBe(0);
    const { code, stdout, stderr } = await run('terraform', [`-chdir=${directory}`, 'test', '-no-color']);
    expect(code, `${stderr}\n${stdout}`).toBe(0);
    expect(stdout).toMatch(/^Success! [1-9]\d* passed, 0 failed\.$/m);
  });
});
