export function servedEngine() {}
