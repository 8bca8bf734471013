import { join } from 'node:path';
import { z } from 'zod';
import { root, run } from '../program.ts';
import { buildPackage } from './buildPackage.ts';
import { readLockFile } from './deployedPackage.ts';

// The program of `npm run package`.

const output = join(root, 'dist');
const packed = z.tuple([z.object({ filename: z.string(), size: z.number(), unpackedSize: z.number() })]);
const { directory } = await buildPackage(await readLockFile(), join(output, 'package'));
const { code, stdout, stderr } = await run('npm', ['pack', directory, '--json', '--pack-destination', output]);
if (code !== 0) throw new Error(`npm pack failed: ${stderr}`);
const [{ filename, size, unpackedSize }] = packed.parse(JSON.parse(stdout));
process.stdout.write(
  `${join('dist', filename)}: ${megabytes(size)} MB, ${megabytes(unpackedSize)} MB unpacked\n` +
    `install it with: npm install --global ./${join('dist', filename)}\n`,
);

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
