import { readApi } from './clients/api.ts';
import { brunoEnvironments, brunoFiles } from './clients/bruno.ts';
import { removeOutdated, writeFiles, writeMissing } from './clients/files.ts';
import { pythonFiles } from './clients/python.ts';
import { receiverFiles } from './clients/receivers.ts';

/*
 * Writes the files of the clients that derive from `openapi.json`, and those that derive from the clients. Git ignores
 * them. Files that people add to the collection stay.
 */

const api = readApi();
const files = { ...pythonFiles(api), ...brunoFiles(api), ...receiverFiles() };
removeOutdated(Object.keys(files));
writeFiles(files);
writeMissing(brunoEnvironments());
