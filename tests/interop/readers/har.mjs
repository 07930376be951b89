// Checks an archive by the published schema of HAR 1.2, and prints how many entries it has.
import { readFileSync } from 'node:fs';
import validator from 'har-validator';

const archive = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const errors = await validator.har(archive).then(
  () => [],
  error => (error.errors ?? [error.message]).map(one => JSON.stringify(one)),
);
console.log(JSON.stringify({ errors, entries: archive.log.entries.length }));
