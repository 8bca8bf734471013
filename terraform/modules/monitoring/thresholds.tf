locals {
  # Each function's thresholds. Times are in seconds.
  thresholds = {
    removeOtpEmail = { failure_fraction = 0.01, slow_after = 2 }
    export         = { failure_fraction = 0.1, slow_after = 3000 }
    import         = { failure_fraction = 0.1, slow_after = 3000 }
  }

  memory_fraction = 0.9

  # Incidents close by themselves when their cause has been gone for this long.
  auto_close = "1800s"

  services = { for function in keys(local.thresholds) : function => values(var.instances)[*].services[function] }

  # Each alert covers the services of all instances, and opens an incident for each service.
  of_function = { for function, names in local.services : function =>
    "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = one_of(${join(", ", formatlist("\"%s\"", names))})"
  }
  of_all = "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = one_of(${join(", ", formatlist("\"%s\"", flatten(values(local.services))))})"

  by_service = ["resource.label.service_name"]
}
