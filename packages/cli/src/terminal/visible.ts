// What makes text visible is core's; every line of this package takes it from here.
export { oneLine, visibleJson, visibleText } from '@devs/core/internal';
