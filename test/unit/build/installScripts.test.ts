import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8'));
const { allowScripts, scarfSettings } = z
  .object({ allowScripts: z.record(z.string(), z.boolean()), scarfSettings: z.object({ enabled: z.boolean() }) })
  .parse(read('package.json'));
const { packages } = z
  .object({ packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().default(false) })) })
  .parse(read('package-lock.json'));

describe('an installation', () => {
  it('allows or skips each install script by name, so that npm has nothing to warn of', () => {
    const places = Object.keys(packages).filter((place) => packages[place]?.hasInstallScript);
    const names = places.map((place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length));
    expect(new Set(names)).toEqual(new Set(Object.keys(allowScripts)));
  });

  it('is not reported to scarf.sh, by any version of npm', () => {
    expect([scarfSettings.enabled, allowScripts['@scarf/scarf']]).toEqual([false, false]);
  });
});
