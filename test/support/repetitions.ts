const wanted = process.env.TEST_REPETITIONS ?? 'few';
if (wanted !== 'few' && wanted !== 'many') throw new Error(`TEST_REPETITIONS is ${wanted}: set it to few or many`);

/** Whether tests repeat what they try as often as they can, as in `npm run test:faults`. */
export const areMany = wanted === 'many';

/** Chooses how often a test repeats what it tries, or how large it tries it: `few` in `npm test`. */
export function repetitions<Value>({ few, many }: { readonly few: Value; readonly many: Value }): Value {
  return areMany ? many : few;
}
