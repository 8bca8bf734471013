import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

/** The applies with the real provider, which neither `npm test` nor `npm run test:all` runs: `npm run test:apply` does. */
export default defineConfig({
  test: { ...shared, include: ['test/apply/*.test.ts'], globalSetup: ['test/apply/requireProvider.ts'] },
});
