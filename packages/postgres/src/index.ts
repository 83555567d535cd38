export { type ClusterAddress, ClusterAdmin, type Migrated } from './ClusterAdmin.ts';
export { FileImage } from './FileImage.ts';
export { schemaSql } from './schema.ts';
