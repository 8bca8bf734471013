import type { Scenario } from '../measure.ts';
import { rate } from '../tasks/process.ts';
import { runTask } from '../tasks/runTask.ts';
import { type SampleContent, writeSampleFile } from '../tasks/sampleFile.ts';
import { openPlaces, type StoreKind } from './places.ts';

const USERS = 10_000;
const contents = {
  one: { users: USERS },
  many: { users: 10, organisations: USERS / 10 },
} satisfies Record<string, SampleContent>;

/** Exports as many users of one organisation and of many. */
export function organisations(kind: StoreKind): Scenario {
  return {
    prepare: async (bench) => {
      const places = await openPlaces(bench, kind);
      if ('missing' in places) return places;
      const fill = async (name: keyof typeof contents) => {
        const file = await writeSampleFile(bench.path(`${name} ${kind}.json`), contents[name]);
        const task = { users: USERS, file, location: places.create(name) };
        await runTask({ ...task, name: 'import' });
        return () => runTask({ ...task, name: 'export with secrets' });
      };
      const exportOne = await fill('one');
      const exportMany = await fill('many');
      return async () => {
        const one = await exportOne();
        const many = await exportMany();
        return { manyRatio: rate(many) / rate(one), manyRate: rate(many), oneRate: rate(one) };
      };
    },
  };
}
