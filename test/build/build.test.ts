import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { BuiltFunction } from '../../tools/build/buildFunction.ts';
import { optionalPackages } from '../../tools/build/bundling.ts';
import { replacedModules } from '../../tools/build/replacedModules.ts';
import { packagePlaces } from '../../tools/build/thirdParty.ts';
import { root, run } from '../../tools/program.ts';
import { buildAll, unpack } from '../support/processes/builtFunctions.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const functions = ['export', 'import', 'removeOtpEmail'] as const;
const files = ['THIRD-PARTY-NOTICES.txt', 'compile.cjs', 'index.js', 'package-lock.json', 'package.json'];
const versioned = z.object({ version: z.string() });
const lockFile = z.object({ packages: z.record(z.string(), versioned) });

let output: TemporaryDirectory = { path: '', remove: async () => {} };
let built: readonly BuiltFunction[] = [];
beforeAll(async () => {
  output = await temporaryDirectory();
  built = await buildAll(output.path);
});
afterAll(() => output.remove());

function inputsOf(name: string): readonly string[] {
  const found = built.find((one) => one.name === name)?.inputs ?? [];
  expect(found).toContain(`functions/${name}/index.ts`);
  return found;
}

async function readJson(...path: readonly string[]): Promise<unknown> {
  return JSON.parse(await readFile(join(...path), 'utf8'));
}

describe('the build', () => {
  it('makes a directory and an archive of each function, and nothing else', async () => {
    const made = await readdir(output.path, { recursive: true });
    const expected = functions.flatMap((name) => [name, `${name}.zip`, ...files.map((file) => `${name}/${file}`)]);
    expect(made.sort()).toEqual(expected.sort());
  });

  it('puts the files of the directory into the archive', async () => {
    for (const one of built) {
      const unpacked = await unpack(one);
      expect(Object.keys(unpacked)).toEqual(files);
      for (const file of files) {
        const same = (await readFile(join(one.directory, file))).equals(unpacked[file] ?? new Uint8Array());
        expect(same, `${one.name}/${file}`).toBe(true);
      }
    }
  });

  it('adds the notice of the packages that the bundle holds', async () => {
    const notice = await readFile(join(output.path, 'import', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const place of packagePlaces(inputsOf('import')))
      expect(notice).toContain(`\n${place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)} `);
    expect(notice).not.toContain('\nvitest ');
  });

  it('returns the SHA-256 of each archive', async () => {
    for (const { archive, sha256 } of built)
      expect(
        createHash('sha256')
          .update(await readFile(archive))
          .digest('hex'),
      ).toBe(sha256);
  });

  it('puts no commit into an archive: equal sources make equal archives', async () => {
    const { stdout: commit } = await run('git', ['rev-parse', '--short=7', 'HEAD']);
    const texts = functions.flatMap((name) => files.map((file) => readFile(join(output.path, name, file), 'utf8')));
    expect((await Promise.all(texts)).filter((text) => text.includes(commit.trim()))).toEqual([]);
  });

  it('makes the same bytes again', async () => {
    const second = await temporaryDirectory();
    try {
      for (const { name, archive } of await buildAll(second.path)) {
        const same = (await readFile(archive)).equals(await readFile(join(output.path, `${name}.zip`)));
        expect(same, name).toBe(true);
      }
    } finally {
      await second.remove();
    }
  });
});

describe('what is deployed beside the bundle', () => {
  it.each(functions)('is the framework alone, for %s, on the Node that the tests run on', async (name) => {
    const { version } = versioned.parse(
      await readJson(root, 'node_modules/@google-cloud/functions-framework/package.json'),
    );
    const [major = ''] = process.versions.node.split('.');
    expect(await readJson(output.path, name, 'package.json')).toMatchObject({
      main: 'index.js',
      type: 'commonjs',
      engines: { node: major },
      dependencies: { '@google-cloud/functions-framework': version },
    });
  });

  it('is locked in the versions that the tests run with', async () => {
    const lock = lockFile.parse(await readJson(output.path, 'export', 'package-lock.json'));
    const { '': own, ...others } = lock.packages;
    expect(own).toBeDefined();
    expect(Object.keys(others)).toContain('node_modules/express');
    for (const [place, { version }] of Object.entries(others)) {
      expect(await readJson(root, place, 'package.json'), place).toMatchObject({ version });
    }
  });
});

const proto = 'node_modules/@zitadel/proto/es/zitadel/';
const descriptors = [`${proto}admin_pb`, `${proto}v1_pb`, `${proto}management_pb`, 'shared/organisation/'];
const cloudStorage = ['node_modules/@google-cloud/storage/', 'shared/objectStorage/'];
const optional = optionalPackages.map((name) => `node_modules/${name}/`);
const nowhere = ['cli/', 'local/', 'test/', 'tools/', ...optional];
const framework = ['node_modules/@google-cloud/functions-framework/'];

describe('a bundle', () => {
  it('of import has all modules that the build replaces, so that none is replaced without need', () => {
    expect(inputsOf('import')).toEqual(expect.arrayContaining([...replacedModules]));
  });

  it('of removeOtpEmail carries neither the descriptors of the organisation document nor Cloud Storage', () => {
    const isDescriptor = (path: string) => path.startsWith(proto);
    const carried = startingWith(inputsOf('removeOtpEmail'), [...descriptors.filter(isDescriptor), ...cloudStorage]);
    const rules = ['objectName', 'serviceAccount'].map((name) => `shared/objectStorage/${name}.ts`);
    expect(carried.toSorted(), 'what a contract says of names and keys').toEqual(rules);
  });

  it('of removeOtpEmail carries the contracts of the others, to describe what they serve, and none of their work', () => {
    const others = ['functions/export/', 'functions/import/', 'shared/accounts/'];
    const carried = startingWith(inputsOf('removeOtpEmail'), others);
    expect(carried).toEqual(expect.arrayContaining(['functions/import/contract.ts']));
    expect(carried.filter((path) => !path.endsWith('/contract.ts'))).toEqual([]);
  });

  it('of export carries nothing that only an import needs', () => {
    const others = ['functions/import/', 'functions/removeOtpEmail/'];
    expect(startingWith(inputsOf('export'), others)).toEqual([]);
  });

  it('of import carries nothing that only an export needs', () => {
    expect(startingWith(inputsOf('import'), ['functions/export/', 'functions/removeOtpEmail/'])).toEqual([]);
  });

  it('of import alone carries the program of the worker threads, as text: a bundle has no URL to load it from', async () => {
    const program = ['shared/auth/bcryptWorker.ts', 'node_modules/bcryptjs/'];
    expect(startingWith(inputsOf('import'), program)).toHaveLength(2);
    expect(startingWith([...inputsOf('export'), ...inputsOf('removeOtpEmail')], program)).toEqual([]);
    for (const { directory } of built)
      expect(await readFile(join(directory, 'index.js'), 'utf8')).not.toContain('import_meta');
  });

  it('of import is where they are, so that their names are right here', () => {
    for (const prefix of [...descriptors, ...cloudStorage]) {
      expect(startingWith(inputsOf('import'), [prefix]), prefix).not.toEqual([]);
    }
  });

  it.each(functions)('of %s is ASCII, which takes half of the memory of other texts', async (name) => {
    expect(await readFile(join(output.path, name, 'index.js'), 'utf8')).toMatch(/^[\0-\x7f]*$/);
  });

  it.each(functions)('of %s carries neither the framework nor optional packages, commands and local runs', (name) => {
    expect(startingWith(inputsOf(name), [...nowhere, ...framework])).toEqual([]);
  });
});

function startingWith(paths: readonly string[], prefixes: readonly string[]): string[] {
  return paths.filter((path) => prefixes.some((prefix) => path.startsWith(prefix)));
}
