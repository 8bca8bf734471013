locals {
  # By their names in the code. Sizes are MiB, times seconds. Export and import work on one document at a time, and what
  # a process may take is bounded by its heap, so they get a process for each request.
  functions = {
    removeOtpEmail = {
      name          = "${var.id}-remove-otp-email"
      account       = "${var.id}-otp-email"
      database_role = "roles/datastore.user"
      memory        = 512
      heap          = 256
      timeout       = 30
      concurrency   = 80
      min_instances = var.min_instances
      max_instances = 20
    }
    export = {
      name          = "${var.id}-export"
      account       = "${var.id}-export"
      database_role = "roles/datastore.viewer"
      memory        = 1024
      heap          = 512
      timeout       = 3600
      concurrency   = 1
      min_instances = 0
      max_instances = 4
    }
    import = {
      name          = "${var.id}-import"
      account       = "${var.id}-import"
      database_role = "roles/datastore.user"
      memory        = 1024
      heap          = 512
      timeout       = 3600
      concurrency   = 1
      min_instances = 0
      max_instances = 4
    }
  }
}
