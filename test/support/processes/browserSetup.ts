import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, cp } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { root } from '../../../tools/program.ts';
import { findBrowser } from '../../integration/repository/browser/openPage.ts';
import { cacheProgram, succeed } from './cachedPrograms.ts';

const chromium = { name: 'chromium', version: '153.0.0' };
/** The lock file in this directory contains the checksums of the packages. */
const packageDirectory = join(root, 'test/fixtures/browser-package');

/**
 * Puts a browser on the PATH of the tests. If none is installed, uses the headless Chromium of a package: a program for
 * Linux on x64 that needs some libraries of the system.
 */
export default async function setup(): Promise<void> {
  if ((await findBrowser()) !== undefined || process.platform !== 'linux' || process.arch !== 'x64') return;
  try {
    const path = await cacheProgram(chromium, unpack);
    await succeed(path, ['--no-sandbox', '--version'], {});
    process.env.PATH = [dirname(path), process.env.PATH].join(delimiter);
  } catch (error) {
    process.stderr.write(`The browser of the package does not run on this machine: ${error}\n`);
  }
}

async function unpack(directory: string): Promise<void> {
  const copy = join(directory, 'package');
  await cp(packageDirectory, copy, { recursive: true });
  await succeed('npm', ['ci', '--ignore-scripts', '--prefix', copy], {});
  const program = join(directory, chromium.name);
  const packed = join(copy, 'node_modules/@sparticuz/chromium/bin/chromium.br');
  await pipeline(createReadStream(packed), createBrotliDecompress(), createWriteStream(program));
  await chmod(program, 0o755);
}
