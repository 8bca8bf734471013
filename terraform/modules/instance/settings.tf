locals {
  labels = merge(var.labels, { identity-instance = var.id })

  # By the functions' names in the code. Sizes are in MiB, times in seconds.
  # Each process runs one export or import at a time, because the heap limit holds for the whole process.
  # Only functions that read or write secrets get the master key. Only exports and imports use the bucket for transfers.
  functions = {
    removeOtpEmail = {
      name          = "${var.id}-remove-otp-email"
      account       = "${var.id}-otp-email"
      database_role = "roles/datastore.user"
      memory        = 512
      heap          = 256
      timeout       = 30
      concurrency   = 80
      master_key    = false
      transfers     = false
      min_instances = var.min_instances
      max_instances = var.max_instances
    }
    export = {
      name          = "${var.id}-export"
      account       = "${var.id}-export"
      database_role = "roles/datastore.viewer"
      memory        = 1024
      heap          = 512
      timeout       = 3600
      concurrency   = 1
      master_key    = true
      transfers     = true
      min_instances = 0
      max_instances = var.max_instances
    }
    import = {
      name          = "${var.id}-import"
      account       = "${var.id}-import"
      database_role = "roles/datastore.user"
      memory        = 1024
      heap          = 512
      timeout       = 3600
      concurrency   = 1
      master_key    = true
      transfers     = true
      min_instances = 0
      max_instances = var.max_instances
    }
  }
}
