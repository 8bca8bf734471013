locals {
  labels = merge(var.labels, { identity-instance = var.id })

  # By the functions' names in the code. Sizes are in MiB, times in seconds.
  # Each process runs one export or import at a time, because the heap limit holds for the whole process.
  # Only functions that read or write secrets get the master key. Only exports and imports use the bucket for transfers.
  functions = { for function, settings in jsondecode(file("${path.module}/functions.json")) : function => merge(settings, {
    name          = "${var.id}-${settings.name}"
    account       = "${var.id}-${settings.account}"
    memory        = lookup(var.memory, function, settings.memory)
    min_instances = function == "removeOtpEmail" ? var.min_instances : 0
    max_instances = var.max_instances
  }) }
}
