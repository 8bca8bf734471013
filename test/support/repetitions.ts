const wanted = process.env.TEST_REPETITIONS ?? 'few';
if (wanted !== 'few' && wanted !== 'many') throw new Error(`TEST_REPETITIONS is ${wanted}: set it to few or many`);

/** Whether tests repeat their cases as often as possible, as in `npm run test:faults`. */
export const areMany = wanted === 'many';

/** Returns the number of repetitions or the size of a test: `few` in `npm test`. */
export function repetitions<Value>({ few, many }: { readonly few: Value; readonly many: Value }): Value {
  return areMany ? many : few;
}
