import { defineConfig } from 'vitest/config';

// Only projects that use the emulator start it; the second one finds the first one's.
const globalSetup = ['test/support/firestoreEmulator.ts'];

// Their tests last as long as the faults that they cause are many.
const faultsTimeouts = { testTimeout: process.env.FAULTS === 'full' ? 4 * 3_600_000 : 600_000, hookTimeout: 300_000 };

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { extends: true, test: { name: 'terraform', include: ['test/terraform/**/*.test.ts'] } },
      { extends: true, test: { name: 'integration', include: ['test/integration/**/*.test.ts'], globalSetup } },
      { extends: true, test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], globalSetup } },
      {
        extends: true,
        test: { name: 'faults', include: ['test/faults/**/*.test.ts'], globalSetup, ...faultsTimeouts },
      },
      { extends: true, test: { name: 'schema', include: ['test/schema/**/*.test.ts'] } },
      { extends: true, test: { name: 'acceptance', include: ['test/acceptance/**/*.test.ts'], globalSetup } },
    ],
  },
});
