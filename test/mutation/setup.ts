/** A mutant is killed by the first failure, however large its case, and by the same cases every time. */
import fc from 'fast-check';

fc.configureGlobal({
  seed: 20_260_822,
  endOnFailure: true,
  interruptAfterTimeLimit: Number(process.env['FORESHOCK_MUTATION_PROPERTY_MS']),
});
